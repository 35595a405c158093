import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { sameAnswer, shellBlocks } from '../../scripts/readme/blocks.js';
import { answersOf } from '../../scripts/readme/shell.js';
import { CLASSIFICATIONS } from '../../src/incidents/incident.js';
import { UNAVAILABLE_REASONS } from '../../src/triage/model/model.errors.js';
import { PROVIDERS } from '../../src/triage/model/triage-model.port.js';
import { OWN_FAILURES } from '../../src/triage/triage-run.js';
import { readContract } from '../support/contract-check-document.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Every shell block of docs/triage.md, in their order, as a reader would run them. */
describe('docs/triage.md', () => {
  const document = readFileSync('docs/triage.md', 'utf8');
  const blocks = shellBlocks(document);
  const hasRow = (word: string) => document.includes(`\n| \`${word}\` `);
  let app: TestApp;
  let key: string;
  let answers: string[];

  beforeAll(async () => {
    app = await startTestApp({ settings: { TRIAGE_PROVIDER: 'rules' } });
    ({ key } = await makeKey(app, 'admin', { name: 'bootstrap-admin' }));
    const place = { cwd: process.cwd(), port: String(app.port), before: `KEY='${key}'` };
    answers = await answersOf(blocks, place);
  });
  afterAll(() => app?.close());

  it('shows the answers that the service gives', () => {
    const shown = blocks.flatMap((block, index) =>
      block.shown === undefined ? [] : [[block.shown, answers[index]!] as const],
    );
    expect(shown.length).toBeGreaterThan(3);
    for (const [expected, actual] of shown) {
      if (!sameAnswer(expected, actual)) expect(actual).toBe(expected);
    }
  });

  it('has a run more after it was forced', async () => {
    const admin = app.client.with({ authorization: `Bearer ${key}` });
    const { body } = await admin.request('GET', '/api/incidents?source=email-gateway');
    const runs = await admin.request('GET', `/api/incidents/${body.data[0].id}/triage`);
    expect(runs.body.data.map(({ force }: { force: boolean }) => force)).toEqual([true, false]);
  });

  it('has a row for each provider, field and reason', () => {
    expect(PROVIDERS.filter((provider) => !hasRow(provider))).toEqual([]);
    const { schemas } = readContract().components;
    const fields = Object.keys(schemas['TriageRequest']!.properties!);
    expect(fields.filter((field) => !hasRow(field))).toEqual([]);
    const reasons = [...UNAVAILABLE_REASONS, ...OWN_FAILURES];
    expect(reasons.filter((reason) => !hasRow(reason))).toEqual([]);
  });

  it('names each classification and each field of a verdict', () => {
    const verdict = readContract().components.schemas['TriageVerdict']!.properties!;
    const words = [...CLASSIFICATIONS, ...Object.keys(verdict)];
    expect(words.filter((word) => !document.includes(`\`${word}\``))).toEqual([]);
  });

  it('lets runs go as the operator is told, after which a plain request asks anew', async () => {
    const operations = readFileSync('docs/operations.md', 'utf8');
    const [, told] = /How runs are kept[\s\S]*?```sql\n([\s\S]*?)```/.exec(operations)!;
    const admin = app.client.with({ authorization: `Bearer ${key}` });
    const { body } = await admin.request('GET', '/api/incidents?source=email-gateway');
    const path = `/api/incidents/${body.data[0].id}/triage`;
    const before = (await admin.request('POST', path)).body.data.triage_id;
    await app.nest.get(DataSource).query(told!.replaceAll("'1 year'", "'0 s'"));
    expect((await admin.request('GET', path)).body.meta.total).toBe(0);
    const anew = (await admin.request('POST', path)).body.data;
    expect(anew).toMatchObject({
      status: 'completed',
      triage_id: expect.not.stringMatching(before),
    });
  });
});
