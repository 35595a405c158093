import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
} from '../../scripts/contract/document.js';
import { SHIPPED_PLAYBOOKS } from '../../src/playbooks/shipped/shipped-playbooks.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface Filled {
  readonly name: string;
  readonly in: string;
  readonly example?: unknown;
  readonly schema?: { readonly example?: unknown };
}

interface Parts {
  readonly parameters?: readonly Filled[];
  readonly requestBody?: {
    readonly content: Record<string, { examples?: Record<string, { value: object }> }>;
  };
}

const document = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as OpenApiDocument;
const BOXES = pathToFileURL(join(__dirname, '../../src/platform/docs/browser/boxes.mjs')).href;

interface Boxes {
  documentForPage(whole: OpenApiDocument, mayCall: () => boolean): OpenApiDocument;
}

let operations: readonly PlacedOperation[];

/** What Swagger UI fills in, and so sends at the first click. */
function firstTry({ path, operation }: PlacedOperation): { address: string; body?: object } {
  const { parameters = [], requestBody } = operation as unknown as Parts;
  const filled = parameters
    .map(({ example, schema, ...one }) => ({ ...one, value: example ?? schema?.example }))
    .filter(({ value }) => value !== undefined);
  const inPath = filled.filter((one) => one.in === 'path');
  const address = inPath.reduce(
    (text, { name, value }) => text.replace(`{${name}}`, String(value)),
    path,
  );
  const query = filled
    .filter((one) => one.in === 'query')
    .map(({ name, value }) => `${name}=${String(value)}`);
  const [example] = Object.values(requestBody?.content['application/json']?.examples ?? {});
  return { address: `${address}?${query.join('&')}`, body: example?.value };
}

describe('The first try of a playbook operation in Swagger UI', () => {
  let app: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    const { documentForPage } = (await import(BOXES)) as Boxes;
    operations = operationsOf(documentForPage(document, () => true)).filter(({ path }) =>
      path.startsWith('/api/playbooks'),
    );
    app = await startTestApp();
    admin = await as(app, 'admin');
  });
  afterAll(() => app.close());

  const send = async (operationId: string) => {
    const placed = operations.find(({ operation }) => operation.operationId === operationId)!;
    const { address, body } = firstTry(placed);
    return await admin.request(placed.method, address, body && { body });
  };

  it.each([
    ['listPlaybooks', 200],
    ['validatePlaybook', 200],
    ['createPlaybook', 201],
    ['getPlaybook', 200],
    ['listPlaybookVersions', 200],
    ['runPlaybook', 200],
    ['listPlaybookRuns', 200],
  ])('succeeds for %s on a fresh service', async (operationId, status) => {
    const answer = await send(operationId);
    expect([answer.status, answer.body]).toEqual([status, expect.anything()]);
    if (operationId === 'listPlaybooks') {
      expect(answer.body.meta.total).toBe(SHIPPED_PLAYBOOKS.length);
    }
    if (operationId === 'runPlaybook') expect(answer.body.data.dry_run).toBe(true);
  });

  it('only lacks an id where it needs that of a run, or would change or delete a playbook', () => {
    const lacking = operations.filter((placed) => firstTry(placed).address.includes('{'));
    const ids = lacking.map(({ operation }) => operation.operationId);
    expect(ids.sort()).toEqual([
      'cancelPlaybookRun',
      'deletePlaybook',
      'getPlaybookRun',
      'updatePlaybook',
    ]);
  });
});
