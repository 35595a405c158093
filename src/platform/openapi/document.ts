import type { INestApplication } from '@nestjs/common';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type OperationObject,
  type ParameterObject,
  type ReferenceObject,
  type SchemaObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { version } from '../config/version.js';
import { EXAMPLE_EXTENSION, SCHEMAS_EXTENSION } from './answers.js';
import { CHAPTERS } from './chapters.js';
import { SHARED_SCHEMAS } from './error-schemas.js';
import { addExamples, shareErrorExamples } from './examples.js';
import { describeByGlossary } from './glossary/glossary.js';
import { addLinks } from './links.js';
import type { OperationExamples } from './operation-examples.js';
import { operationsOf } from './placed-operations.js';
import { addCodeSamples } from './samples/code-samples.js';
import { leaveOutNul } from './nul-characters.js';
import { complete, TWINS_UNDER_API } from './operations.js';
import { nameTitled, nameWords } from './components.js';
import { addEnvelopes, describeRequestBodies, nameSchemas, sorted } from './schemas.js';
import { shareParts } from './sharing.js';

const SESSION_DESCRIPTION = `A session from /login. Over https the cookie is named __Host-its_session.

A request that changes something with the cookie has to say that it comes from this site, as browsers do: with the header
\`Sec-Fetch-Site: same-origin\` (or \`none\`), or without that header with an \`Origin\` of this host. Otherwise it is 403
\`forbidden\`. Reads, and requests with a key, need neither.`;

/** The contract: the document that Nest makes of the handlers, completed with what all handlers share. */
export function buildDocument(app: INestApplication, examples: OperationExamples): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Incident Triage Service')
    .setDescription(CHAPTERS)
    .setVersion(version)
    .setExternalDoc(
      'Every operation, to be tried out in a browser; the guides are in the folder docs of the source.',
      '/docs',
    )
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'This service')
    .addSecurity('bearer', {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'its_<8>_<43>',
      description: 'An API key of this service.',
    })
    .addCookieAuth(
      'its_session',
      {
        type: 'apiKey',
        in: 'cookie',
        description: SESSION_DESCRIPTION,
      },
      'session',
    )
    .addSecurity('metricsToken', {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'METRICS_TOKEN',
      description: 'The token that the setting METRICS_TOKEN names.',
    })
    .build();
  // An address that is empty is no address, and a generator refuses the whole document for it.
  config.info.contact = { name: 'Who operates this installation' };
  const document = SwaggerModule.createDocument(app, config);
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...SHARED_SCHEMAS },
  };
  for (const schema of Object.values(document.components.schemas!)) showExample(schema);
  const seen = new Set<string>();
  const answers = {};
  for (const { path, method, operation } of operationsOf(document)) {
    addSchemas(document, operation);
    complete(operation, method, path, seen);
    const cases = examples[operation.operationId!];
    addExamples(operation, cases, answers);
    addCodeSamples(operation, method, path, cases);
  }
  const unknown = Object.keys(examples).filter((id) => !seen.has(id));
  if (unknown.length > 0) throw new Error(`Examples of no operation: ${unknown.join(', ')}.`);
  describeTagsAndIds(document);
  nameTitled(document);
  nameWords(document);
  describeRequestBodies(document);
  leaveOutNul(document);
  addEnvelopes(document);
  const named = nameSchemas(document);
  describeByGlossary(named);
  addLinks(named);
  shareErrorExamples(named, answers);
  return sorted(shareParts(named));
}

type WithSchemas = OperationObject & { [SCHEMAS_EXTENSION]?: Record<string, SchemaObject> };

/** Those that an operation brings with it; see ApiSchemas. */
function addSchemas(document: OpenAPIObject, operation: WithSchemas): void {
  Object.assign(document.components!.schemas!, operation[SCHEMAS_EXTENSION]);
  delete operation[SCHEMAS_EXTENSION];
}

type WithExample = SchemaObject & { [EXAMPLE_EXTENSION]?: unknown };

/** The one that its class brings with it; see ApiExample. */
function showExample(schema: WithExample | ReferenceObject): void {
  if ('$ref' in schema || !schema[EXAMPLE_EXTENSION]) return;
  schema.example = schema[EXAMPLE_EXTENSION];
  delete schema[EXAMPLE_EXTENSION];
}

/** The groups of operations, in the order in which a reader meets them. */
const TAGS: Readonly<Record<string, string>> = {
  Incidents: 'Security incidents, their verdicts and what happened to them.',
  Triage: 'Verdicts of a model on incidents, each with what it rests on.',
  Actions: 'What is done about an incident, or directly: requested, carried out, rolled back.',
  Approvals: 'The consent of people that some actions wait for.',
  Playbooks: 'What is done about a kind of incident, step by step, and the runs of it.',
  'Kill switch': 'Stops every effect on the outside until it is turned off again.',
  Connectors: 'The tools that carry actions out.',
  Webhooks: 'Security tools that send events, how these become incidents, and what became of each.',
  Notifications:
    'Who is told of what happens, over which channel, and what became of each message.',
  Attention: 'What silently did not happen, until it is mended or done with.',
  Access: 'Keys, users, sessions, and who one is.',
  Audit: 'Who did what, in a trail whose changes are found.',
  System: 'Health, metrics, failed jobs and this document.',
  [TWINS_UNDER_API]:
    'Health and metrics again, for those who reach nothing but `/api`. Everything there needs a key.',
};

interface IdInAddress {
  readonly what: string;
  /** The name of its schema. */
  readonly schema: string;
  readonly example?: string;
}

/** What an id in an address is the id of, by the part of the address before it. */
const IDS: Readonly<Record<string, IdInAddress>> = {
  actions: { what: 'action', schema: 'ActionId' },
  attention: { what: 'item', schema: 'AttentionItemId' },
  'api-keys': { what: 'API key', schema: 'ApiKeyId' },
  connectors: { what: 'connector', schema: 'ConnectorId' },
  dead: { what: 'job', schema: 'DeadJobId' },
  deliveries: { what: 'delivery', schema: 'NotificationDeliveryId' },
  incidents: { what: 'incident', schema: 'IncidentReference' },
  'notification-channels': { what: 'notification channel', schema: 'NotificationChannelId' },
  'playbook-runs': { what: 'run', schema: 'PlaybookRunId' },
  playbooks: { what: 'playbook', schema: 'PlaybookReference', example: 'phishing-response' },
  runs: { what: 'run', schema: 'PlaybookRunId' },
  sessions: { what: 'session', schema: 'SessionId' },
  triage: { what: 'run', schema: 'TriageRunId' },
  users: { what: 'user', schema: 'UserId' },
  'webhook-events': { what: 'event', schema: 'WebhookEventId' },
  webhooks: { what: 'webhook source', schema: 'WebhookSourceName', example: 'siem' },
};

/** What in an address is called otherwise in a sentence. */
const WORDS: Readonly<Record<string, string>> = { source: 'name' };
const REFERENCES: Readonly<Record<string, string>> = { IncidentReference: 'id or the number' };

/** Describes the groups of operations, and the ids in addresses that their handlers do not describe. */
function describeTagsAndIds(document: OpenAPIObject): void {
  const used = new Set<string>();
  for (const { path, operation } of operationsOf(document)) {
    for (const tag of operation.tags ?? []) used.add(tag);
    for (const parameter of operation.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'path') describeId(parameter, path);
    }
  }
  const unknown = [...used].filter((name) => !Object.hasOwn(TAGS, name));
  if (unknown.length > 0) throw new Error(`Without a description: the tag ${unknown.join(', ')}.`);
  document.tags = Object.entries(TAGS)
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

function describeId(parameter: ParameterObject, path: string): void {
  const segment = path.split(`/{${parameter.name}}`)[0]!.split('/').at(-1)!;
  const id = IDS[segment];
  if (!id)
    throw new Error(`${path}: say in IDS of document.ts what {${parameter.name}} is the id of.`);
  const word = WORDS[parameter.name] ?? REFERENCES[id.schema] ?? 'id';
  parameter.description ??= `The ${word} of the ${id.what}. A malformed one is answered like an unknown one.`;
  // What its handler says of it is as exact as the handler means it to be.
  const isNamed = parameter.schema && 'title' in parameter.schema;
  if (!isNamed) parameter.schema = { $ref: `#/components/schemas/${id.schema}` };
  if (id.example) parameter.example ??= id.example;
}
