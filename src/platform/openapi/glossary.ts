import type { OpenAPIObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import { joined, type ModuleContract } from './module-contract.js';
import { TWINS_UNDER_API } from './operations.js';
import { operationsOf } from './placed-operations.js';

type Words = Readonly<Record<string, string>>;
type Schemas = Record<string, SchemaObject>;

/**
 * Describes the schemas, fields and parameters without a description of their own. A field with the same name means the
 * same in the whole contract; `Schema.field` describes an exception.
 */
export function describeByGlossary(
  document: OpenAPIObject,
  contracts: readonly ModuleContract[],
): void {
  const told = joined(contracts.map((one) => one.schemas));
  const fields = joined(contracts.map((one) => one.fields));
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  for (const [name, schema] of Object.entries(schemas)) {
    schema.description ??= told[name] ?? describedByName(name);
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      if ('$ref' in property) continue;
      property.description ??= fields[`${name}.${field}`] ?? fields[field];
    }
  }
  for (const { operation } of operationsOf(document)) {
    for (const parameter of (operation.parameters ?? []) as ParameterObject[]) {
      parameter.description ??= PARAMETERS[parameter.name];
    }
  }
}

/** Suffix rules, tried in order. The text before the suffix names the thing. */
const ENDINGS: readonly (readonly [RegExp, (thing: string) => string])[] = [
  [/Envelope$/, () => 'Answer with its envelope.'],
  [/List$/, () => 'A page of a list.'],
  [/Catalogue$/, () => 'All items, without pages.'],
  [/OrError$/, () => 'The documented body, or an error.'],
  [/Sort$/, () => 'Sort field; a `-` reverses the order.'],
  [/Id$/, (thing) => `The id of a ${thing}.`],
  [/^(\w+)ConnectorInput$/, () => 'New connector of this type.'],
  [/^(\w+)ChannelInput$/, () => 'New notification channel of this type.'],
  [/ChannelConfig$/, () => 'Configuration of this channel type.'],
  [/Config$/, () => 'Configuration of this connector type.'],
];

function describedByName(name: string): string | undefined {
  const [ending, describe] = ENDINGS.find(([one]) => one.test(name)) ?? [];
  return ending && describe?.(inWords(name.replace(ending, '')));
}

/** `ApiKey` is `API key`. */
const inWords = (name: string): string =>
  name
    .replace(/(?!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase())
    .replace('api key', 'key of the API');

const PARAMETERS: Words = {
  page: 'Page number, from 1. A page after the last one is empty.',
  per_page: 'Maximum number of items per page.',
  sort: 'Order of the list; a `-` reverses it. By default the newest item comes first.',
  actor: 'Name of the principal, exactly as in a record.',
  action: 'The recorded action. An unknown action is rejected.',
  queue: 'Only jobs of this queue.',
  enabled: 'Only items that are, or are not, in use.',
  auto_run: 'Only playbooks that do, or do not, run automatically after triage.',
};

const FIELDS: Words = {
  actor: 'Name of the principal who did it.',
  at: 'Time of the event.',
  attempts: 'Number of attempts.',
  category: 'Kind of event in one word. An open set.',
  changed_at: 'Time at which this version was created.',
  comment: 'Reason for the approval, kept in the records.',
  completed_at: 'End time, for any outcome.',
  created_at: 'Creation time.',
  data: 'The requested content.',
  description: 'Purpose, for people.',
  details: 'Further facts.',
  'ErrorObject.details': 'Further facts for programs. The code determines the fields.',
  duration_ms: 'Duration in milliseconds.',
  enabled: 'Whether it is in use.',
  error: 'What went wrong.',
  expires_at: 'Expiry time; absent if it does not expire.',
  id: 'Id.',
  input: 'The input.',
  kind: 'Whether this is a person or a program.',
  latency_ms: 'Response time in milliseconds.',
  message: 'Text for people. It may change.',
  meta: 'Position of this page in the list.',
  name: 'Name.',
  output: 'The output.',
  page: 'Page number, from 1.',
  parameters: 'Target and options of the action.',
  per_page: 'Maximum number of items per page.',
  reason: 'Reason, kept in the records.',
  received_at: 'Time of arrival.',
  request_id: 'Id of the request in the log of the service.',
  requested_at: 'Time of the request.',
  requested_by: 'Principal who requested it.',
  required: 'Whether a value is required.',
  source: 'Origin of the event.',
  started_at: 'Start time.',
  status: 'Current state.',
  subject: 'The object that it is about.',
  success: 'Whether it succeeded.',
  summary: 'One sentence for people about what happened.',
  title: 'Title for people.',
  total: 'Exact number of items.',
  type: 'Type.',
  updated_at: 'Time of the last change.',
  'NotifyUserParameters.recipient':
    'The person who is told, or several separated by commas. Each gets the message at most once.',
  value: 'The value.',
  version: 'Version of the service.',
};

const SCHEMAS: Words = {
  ChangesFrom:
    'Where a feed begins: with everything that exists, or with what changes from now on.',
  DeletedResource: 'That it is deleted.',
  ErrorDetails: 'What programs need beyond the code of an error.',
  ErrorEnvelope: 'An answer that is an error.',
  ErrorObject: 'What went wrong.',
  FieldError: 'What is wrong with one field of the request.',
  IdempotencyKey: 'A value that stands for one thing that somebody wants done: a UUID does.',
  ListMeta: 'Which part of a list an answer has.',
  ServiceIndex: 'What this service is, and where its parts are.',
  Scalar: 'A text, a number, true or false.',
  ScanType: 'How thorough a scan is.',
};

/** Words that every module uses. */
export const PLATFORM_CONTRACT: ModuleContract = {
  tags: {
    System: 'Health, metrics, failed jobs and this document.',
    [TWINS_UNDER_API]:
      'Health and metrics again, for those who reach nothing but `/api`. Everything there needs a key.',
  },
  fields: FIELDS,
  schemas: SCHEMAS,
};
