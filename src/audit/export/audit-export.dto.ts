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
