import type { OpenAPIObject, ParameterObject, SchemaObject } from '@nestjs/swagger';
import { Descriptions, type ModuleContract } from './module-contract.js';
import { TWINS_UNDER_API } from './operations.js';
import { operationsOf } from './schemas.js';

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
  const ofSchemas = new Descriptions('schemas', contracts);
  const ofFields = new Descriptions('fields', contracts);
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  for (const [name, schema] of Object.entries(schemas)) {
    schema.description ??=
      ofSchemas.of(name) ?? ENDINGS.find(([suffix]) => name.endsWith(suffix))?.[1];
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      if ('$ref' in property) continue;
      property.description ??= ofFields.of(`${name}.${field}`) ?? ofFields.of(field);
    }
  }
  ofSchemas.refuseUnused();
  ofFields.refuseUnused();
  for (const { operation } of operationsOf(document)) {
    for (const parameter of (operation.parameters ?? []) as ParameterObject[]) {
      parameter.description ??= PARAMETERS[parameter.name];
    }
  }
}

/** Suffix rules, tried in order. */
const ENDINGS: readonly (readonly [suffix: string, description: string])[] = [
  ['Envelope', 'Answer with its envelope.'],
  ['List', 'A page of a list.'],
  ['Catalogue', 'All items, without pages.'],
  ['OrError', 'The documented body, or an error.'],
  ['Sort', 'Sort field; a `-` reverses the order.'],
  ['ConnectorInput', 'New connector of this type.'],
  ['ChannelInput', 'New notification channel of this type.'],
  ['ChannelConfig', 'Configuration of this channel type.'],
  ['Config', 'Configuration of this connector type.'],
];

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
  duration_ms: 'Duration in milliseconds.',
  enabled: 'Whether it is in use.',
  error: 'Reason of the failure.',
  expires_at: 'Expiry time; absent if it does not expire.',
  id: 'Id.',
  input: 'The input.',
  kind: 'Whether this is a person or a program.',
  latency_ms: 'Response time in milliseconds.',
  message: 'Text for people. It may change.',
  name: 'Name.',
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
  type: 'Type.',
  updated_at: 'Time of the last change.',
  'NotifyUserParameters.recipient':
    'Recipient, or several separated by commas. Each gets the message at most once.',
  value: 'The value.',
  version: 'Version of the service.',
};

const SCHEMAS: Words = {
  ChangesFrom: 'Start of a feed: all existing items, or only changes from now on.',
  DeletedResource: 'Confirmation that the resource is deleted.',
  ErrorDetails: 'Facts about an error for programs, beside its code.',
  ErrorEnvelope: 'Answer with an error.',
  ErrorObject: 'Code and message of an error.',
  FieldError: 'Error of one field of the request.',
  IdempotencyKey: 'Identifies one intended change, for example by a UUID.',
  ListMeta: 'Position of the page in the list.',
  ServiceIndex: 'Name of the service, and addresses of its parts.',
  ScanType: 'Depth of a scan.',
};

export const PLATFORM_CONTRACT: ModuleContract = {
  tags: {
    System: 'Health, metrics, failed jobs and this document.',
    [TWINS_UNDER_API]:
      'Health and metrics for callers that reach only `/api`. All of these need a key.',
  },
  fields: FIELDS,
  schemas: SCHEMAS,
};
