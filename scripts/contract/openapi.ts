import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type OperationObject,
  type SchemaObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { readFileSync } from 'node:fs';
import { format } from 'prettier';
import { DataSource } from 'typeorm';
import { parse, stringify } from 'yaml';
import { AppModule } from '../../src/app.module.js';
import { addActionRequests } from './actions.js';
import { writeOrCheck } from './generated-file.js';
import { loadSettings } from '../../src/platform/config/settings.js';
import { version } from '../../src/platform/config/process.js';
import { createRootLogger } from '../../src/platform/logging/logger.js';
import { EVENT_SCHEMAS } from '../../src/notifications/notification.js';
import { SCHEMAS_EXTENSION } from '../../src/platform/openapi/answers.js';
import { Descriptions, type DescriptionsFile } from './descriptions.js';
import { addEventExamples } from './event-examples.js';
import { Examples, type RecordedExamples } from './examples.js';
import { addLocation, complete, PRINCIPAL } from './operations.js';
import {
  addEnvelopes,
  describeRequestBodies,
  leaveOutNul,
  nameSchemas,
  nameTitled,
  nameWords,
  operationsOf,
  sorted,
} from './schemas.js';
import { SHARED_SCHEMAS } from './shared-schemas.js';
import { shareParts } from './sharing.js';
import { addRequestsByType } from './targets.js';

const SESSION_DESCRIPTION = `A session from /login. Over https the cookie is named __Host-its_session.

A request that changes something with the cookie has to say that it comes from this site, as browsers do: with the header
\`Sec-Fetch-Site: same-origin\` (or \`none\`), or without that header with an \`Origin\` of this host. Otherwise it is 403
\`forbidden\`. Reads, and requests with a key, need neither.`;

const DESCRIPTION = `Stores security incidents, triages them, and runs response actions that people approve.

Authenticate with \`Authorization: Bearer its_…\`; the first start writes a key to \`bootstrap-credentials.json\`. An answer
under \`/api\` is \`{data}\`, a list \`{data, meta}\`, an error \`{error}\`. A field without a value is left out, never null. Times
are UTC with milliseconds. Send \`Idempotency-Key\` with a POST to repeat it safely for 24 hours, and \`If-Match\` with a PUT to
change only the version that you read, where the GET has an \`ETag\`. On 429 and 503 wait for \`Retry-After\`. Programs use
the \`code\` of an error, not its message. Ignore unknown fields, and treat an unknown value like the least specific one:
both can be added at any time.

The guide [Using the API](/docs/guides/api) has roles, lists and filters, limits, and what to do about each error.`;

/** Builds the contract: the document that Nest generates from the handlers, with the parts that all handlers share. */
function buildDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Incident Triage Service')
    .setDescription(DESCRIPTION)
    .setVersion(version)
    .setExternalDoc(
      'Guide to the API: keys, lists, idempotency, limits, errors',
      '/docs/guides/api',
    )
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    // The URL is absolute, because Postman and Bruno build wrong addresses from a relative URL.
    .addServer(
      'http://127.0.0.1:3000',
      'Default address. Replace it with the address of your service.',
    )
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
  // The contact has no URL, because some generators reject an empty URL.
  config.info.contact = { name: 'Who operates this installation' };
  // Webhooks send the events, but no response contains them.
  const document = SwaggerModule.createDocument(app, config, { extraModels: EVENT_SCHEMAS });
  document.security = PRINCIPAL;
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...SHARED_SCHEMAS },
  };
  addEventExamples(document);
  addActionRequests(document);
  addRequestsByType(document);
  const seen = new Set<string>();
  const examples = new Examples(
    JSON.parse(readFileSync('openapi/examples.json', 'utf8')) as RecordedExamples,
  );
  const descriptions = new Descriptions(
    parse(readFileSync('openapi/descriptions.yaml', 'utf8')) as DescriptionsFile,
  );
  for (const { path, method, operation } of operationsOf(document)) {
    addSchemas(document, operation);
    complete(operation, method, path, seen);
    addLocation(operation, path, document.paths);
    examples.addTo(operation);
  }
  descriptions.describeTags(document);
  descriptions.describeParameters(document);
  nameTitled(document);
  nameWords(document);
  describeRequestBodies(document);
  leaveOutNul(document);
  addEnvelopes(document);
  const named = nameSchemas(document);
  leaveOutFieldExamples(named);
  descriptions.describeSchemas(named);
  descriptions.refuseUnused();
  examples.finish(named);
  return sorted(shareParts(named));
}

/** Removes the examples of fields, because the recorded examples show whole bodies. */
function leaveOutFieldExamples({ components }: OpenAPIObject): void {
  for (const schema of Object.values(components?.schemas ?? {})) {
    const { properties = {} } = schema as SchemaObject;
    for (const property of Object.values(properties)) delete (property as SchemaObject).example;
  }
}

type WithSchemas = OperationObject & { [SCHEMAS_EXTENSION]?: Record<string, SchemaObject> };

/** Adds the schemas that `ApiSchemas` attached to an operation. */
function addSchemas(document: OpenAPIObject, operation: WithSchemas): void {
  Object.assign(document.components!.schemas!, operation[SCHEMAS_EXTENSION]);
  delete operation[SCHEMAS_EXTENSION];
}

/** Writes the OpenAPI document. With `--check`, compares it with the committed document instead. Needs no database. */
async function main(): Promise<void> {
  const settings = loadSettings({ LOG_LEVEL: 'silent' });
  const app = await NestFactory.create(
    AppModule.on({
      settings,
      dataSource: new DataSource({ type: 'postgres' }),
      logger: createRootLogger(settings),
    }),
    new FastifyAdapter(),
    // In preview mode Nest creates no providers, so nothing connects.
    { preview: true, abortOnError: false, logger: false },
  );
  const document = buildDocument(app);
  // The document is indented by one space, because most of it is indentation.
  const layout = { parser: 'json', printWidth: 100, tabWidth: 1 };
  const text = await format(JSON.stringify(document), layout);
  writeOrCheck('openapi/openapi.json', text, 'npm run openapi');
  writeOrCheck('openapi/openapi.yaml', stringify(document), 'npm run openapi');
}

void main();
