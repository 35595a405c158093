import { readFileSync } from 'node:fs';
import { sameAnswer, shellBlocks } from '../../scripts/readme/blocks.js';
import { answersOf } from '../../scripts/readme/shell.js';
import { WEBHOOK_EVENT_STATUSES } from '../../src/webhooks/events/webhook-event.js';
import { INCIDENT_FIELDS } from '../../src/incidents/incident-fields.js';
import { EVENT_FORMATS, SIGNATURE_SCHEMES } from '../../src/webhooks/sources/webhook-source.js';
import { readContract } from '../support/contract-check-document.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Every shell block of docs/webhooks.md, in their order, as a reader would run them. */
describe('docs/webhooks.md', () => {
  const document = readFileSync('docs/webhooks.md', 'utf8');
  const blocks = shellBlocks(document);
  let app: TestApp;
  let key: string;
  let answers: string[];

  beforeAll(async () => {
    app = await startTestApp();
    ({ key } = await makeKey(app, 'admin', { name: 'bootstrap-admin' }));
    const place = { cwd: process.cwd(), port: String(app.port), before: `KEY='${key}'` };
    answers = await answersOf(blocks, place);
  });
  afterAll(() => app?.close());

  it('shows the answers that the service gives', () => {
    const shown = blocks.flatMap((block, index) =>
      block.shown === undefined ? [] : [[block.shown, answers[index]!] as const],
    );
    expect(shown.length).toBeGreaterThan(4);
    for (const [expected, actual] of shown) {
      if (!sameAnswer(expected, actual)) expect(JSON.parse(actual)).toEqual(JSON.parse(expected));
    }
  });

  it('has a row for each scheme, format and status', () => {
    const own = EVENT_FORMATS.filter((format) => !['auto', 'mapping'].includes(format));
    const words = [...SIGNATURE_SCHEMES, ...own, ...WEBHOOK_EVENT_STATUSES];
    expect(words.filter((word) => !document.includes(`\n| \`${word}\` `))).toEqual([]);
  });

  it('has a row for each well-known field', () => {
    const narrow = document.replace(/ +/g, ' ');
    const rows = Object.entries(INCIDENT_FIELDS).map(([key, what]) => `\n| \`${key}\` | ${what} |`);
    expect(rows.filter((row) => !narrow.includes(row))).toEqual([]);
  });

  it('tells what to do after each answer of a receipt', () => {
    const receipt = readContract().paths['/api/webhooks/{source}']!['post']!;
    const statuses = Object.keys(receipt.responses);
    const rows = document.slice(document.indexOf('## Answers'), document.indexOf('## The same'));
    expect(statuses.length).toBeGreaterThan(7);
    expect(statuses.filter((status) => !rows.includes(status))).toEqual([]);
  });

  it('leads to one incident from each of the sources, whatever their scheme', async () => {
    const admin = app.client.with({ authorization: `Bearer ${key}` });
    const { body } = await admin.request('GET', '/api/incidents?sort=source');
    const made = body.data.map((incident: { source: string; title: string }) => [
      incident.source,
      incident.title,
    ]);
    const title = 'malware: invoice.exe (FIN-LT-204)';
    expect(made).toEqual(
      ['by-body', 'by-standard', 'by-token', 'siem'].map((source) => [source, title]),
    );
  });
});
