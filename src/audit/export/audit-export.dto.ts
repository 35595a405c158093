import type { SchemaObject } from '@nestjs/swagger';
import { integer } from '../../platform/validation/fields.js';
import { From, To } from '../audit.dto.js';

export class AuditExportQueryDto {
  @From()
  readonly from?: string;

  @To()
  readonly to?: string;
}

const text: SchemaObject = { type: 'string' };
const time: SchemaObject = { type: 'string', format: 'date-time' };
const number: SchemaObject = { type: 'string', pattern: '^[0-9]+$' };
const hash: SchemaObject = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const count: SchemaObject = integer(0);
const point = objectOf({ seq: number, hash });
const seal = objectOf({ seq: number, hash, key_id: text });

const attestation = objectOf({ key_id: text, mac: hash });

type Properties = Record<string, SchemaObject>;

function objectOf(always: Properties, sometimes: Properties = {}): SchemaObject {
  return {
    type: 'object',
    properties: { ...always, ...sometimes },
    required: Object.keys(always),
  };
}

function lineOf(type: string, always: Properties, sometimes?: Properties): SchemaObject {
  return objectOf({ type: { type: 'string', enum: [type] }, ...always }, sometimes);
}

const LINES: readonly SchemaObject[] = [
  lineOf(
    'export',
    { at: time, previous: point, head: point, last_seq: number, key_id: text, mac: hash },
    { from: time, to: time },
  ),
  lineOf(
    'entry',
    {
      id: { type: 'string', format: 'uuid' },
      at: time,
      actor: text,
      action: text,
      subject_type: text,
      subject_id: text,
      details: { type: 'string', description: 'JSON as text: the MAC covers its bytes.' },
      key_id: text,
      mac: hash,
    },
    { writer: text, written: number, seal, attestation },
  ),
  lineOf('removed', { id: { type: 'string', format: 'uuid' }, seal }),
  lineOf('end', { sealed: count, unsealed: count, key_id: text, mac: hash }),
];

/** OpenAPI cannot give a schema to each line of a text: the schemas of the lines stand in an extension. */
export const EXPORT_SCHEMA = {
  type: 'string',
  format: 'binary',
  description:
    'One JSON object on each line, told apart by `type`; x-line describes them. `head` is where the whole chain ended, `previous` the seal before the first.',
  'x-line': { oneOf: LINES },
} as SchemaObject;

const ZEROES = '0'.repeat(64);
const MAC = 'e7245c02fa85453515ee642b5d0ef83395763dc00457cc87c127937c136f866a';

export const EXPORT_EXAMPLE = [
  {
    type: 'export',
    at: '2026-11-03T10:00:00.000Z',
    previous: { seq: '0', hash: ZEROES },
    head: { seq: '1', hash: MAC },
    last_seq: '1',
    key_id: '5f0c9a3e',
    mac: MAC,
  },
  {
    type: 'entry',
    id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
    at: '2026-11-02T09:30:00.000Z',
    actor: 'j.doe',
    action: 'incident.created',
    subject_type: 'incident',
    subject_id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4d',
    details: '{"severity":"high"}',
    writer: '0193f2b6-0000-7a0b-9f4e-2f0a7b6c5d4c',
    written: '0',
    key_id: '5f0c9a3e',
    mac: MAC,
    seal: { seq: '1', hash: MAC, key_id: '5f0c9a3e' },
  },
  { type: 'end', sealed: 1, unsealed: 0, key_id: '5f0c9a3e', mac: MAC },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');
