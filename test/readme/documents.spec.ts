import { readFileSync } from 'node:fs';
import { sameAnswer, shellBlocks } from '../../scripts/readme/blocks.js';
import { answersOf } from '../../scripts/readme/shell.js';
import { actionType } from '../../src/action-catalogue/action-types.js';
import { higherLevel } from '../../src/actions/required-levels.js';
import { ConnectorsService } from '../../src/connectors/connectors.service.js';
import { CLASSIFICATIONS } from '../../src/incidents/incident.js';
import { INCIDENT_FIELDS } from '../../src/incidents/incident-fields.js';
import { ROOTS } from '../../src/playbooks/language/expression.js';
import type { PlaybookStep } from '../../src/playbooks/playbook.js';
import { PLAYBOOK_RUN_STATUSES } from '../../src/playbooks/runs/runs.dto.js';
import { SHIPPED_PLAYBOOKS } from '../../src/playbooks/playbooks.service.js';
import { OWN_FAILURES, PROVIDERS, UNAVAILABLE_REASONS } from '../../src/triage/triage-run.js';
import { WEBHOOK_EVENT_STATUSES } from '../../src/webhooks/webhook-events.js';
import {
  EVENT_FORMATS,
  SIGNATURE_SCHEMES,
} from '../../src/webhooks/sources/webhook-source.entity.js';
import type { ApiClient } from '../support/api-client.js';
import { readContract } from '../support/contract-check-document.js';
import { makeKey } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const { schemas } = readContract().components;
const fieldsOf = (name: string): string[] => Object.keys(schemas[name]!.properties!);
const textOf = (name: string): string => readFileSync(`docs/${name}.md`, 'utf8');

/** Returns the words that have no row of their own in a table of the document. */
const withoutRow = (document: string, words: readonly string[]): string[] =>
  words.filter((word) => !document.includes(`\n| \`${word}\` `));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

describe.each([
  ['playbooks', 6],
  ['triage', 4],
  ['webhooks', 4],
])('the shell blocks of docs/%s.md', (name, shownAnswers) => {
  const blocks = shellBlocks(textOf(name));
  const app = useStarted(() => startTestApp({ settings: { TRIAGE_PROVIDER: 'rules' } }));
  let admin: ApiClient;
  let answers: string[];

  beforeAll(async () => {
    if (name === 'playbooks') await app.nest.get(ConnectorsService).createFirstSandbox();
    const { key, client } = await makeKey(app, 'admin', { name: 'bootstrap-admin' });
    admin = client;
    const place = { cwd: process.cwd(), port: String(app.port), before: `KEY='${key}'` };
    answers = await answersOf(blocks, place);
  });

  it('print the output that the document shows', () => {
    const shown = blocks.flatMap((block, index) =>
      block.shown === undefined ? [] : [[block.shown, answers[index]!] as const],
    );
    expect(shown.length).toBeGreaterThanOrEqual(shownAnswers);
    for (const [expected, actual] of shown) {
      if (!sameAnswer(expected, actual)) expect(parsed(actual)).toEqual(parsed(expected));
    }
  });

  if (name === 'webhooks') {
    it('create one incident from each source, with any signature scheme', async () => {
      const { body } = await admin.get('/api/incidents?sort=source');
      const made = body.data.map((incident: { source: string; title: string }) => [
        incident.source,
        incident.title,
      ]);
      const title = 'Malware in invoice.exe on FIN-LT-204';
      expect(made).toEqual(
        ['by-body', 'by-standard', 'by-token', 'siem'].map((source) => [source, title]),
      );
    });
  }

  if (name === 'triage') {
    it('allow a new triage run after the clean-up SQL of docs/monitoring.md', async () => {
      const { body } = await admin.get('/api/incidents?source=email-gateway');
      const path = `/api/incidents/${body.data[0].id}/triage`;
      const runs = await admin.get(path);
      expect(runs.body.data.map(({ force }: { force: boolean }) => force)).toEqual([true, false]);
      const [, sql] = /# Delete old data[\s\S]*?```sql\n([\s\S]*?)```/.exec(textOf('monitoring'))!;
      const before = (await admin.post(path)).body.data.triage_id;
      await app.sql(sql!.replaceAll("'1 year'", "'0 s'"));
      expect((await admin.get(path)).body.meta.total).toBe(0);
      const { data } = (await admin.post(path)).body;
      expect(data).toMatchObject({ status: 'completed' });
      expect(data.triage_id).not.toBe(before);
    });
  }
});

describe('docs/playbooks.md', () => {
  const document = textOf('playbooks');
  const rowsOf = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const approvalOf = ({ action, approval_level: asked }: PlaybookStep): string => {
    const level = higherLevel(actionType(action).level, asked ?? 'none');
    return level === 'none' ? '' : level;
  };

  it.each(SHIPPED_PLAYBOOKS)('lists the steps of the shipped playbook $name', (shipped) => {
    const [, section] = document.split(`\n### ${shipped.name}\n`);
    const rows = rowsOf(section!.split(/\n##/)[0]!);
    expect(rows.map(([, name, action, , approval]) => [name, action, approval])).toEqual(
      shipped.definition.steps.map((step) => [step.name, step.action, approvalOf(step)]),
    );
  });

  it('has a row for each field, root of expressions and run status', () => {
    const fields = ['PlaybookInput', 'PlaybookStepInput'].flatMap(fieldsOf);
    const names = new Set(rowsOf(document).map(([, name]) => name));
    const all = [...fields, ...ROOTS, ...PLAYBOOK_RUN_STATUSES];
    expect(all.filter((name) => !names.has(name))).toEqual([]);
  });
});

it('docs/triage.md has a row for each provider, field and reason, and names each verdict', () => {
  const document = textOf('triage');
  const rows = [...PROVIDERS, ...fieldsOf('TriageRequest'), ...UNAVAILABLE_REASONS];
  expect(withoutRow(document, [...rows, ...OWN_FAILURES])).toEqual([]);
  const words = [...CLASSIFICATIONS, ...fieldsOf('TriageVerdict')];
  expect(words.filter((word) => !document.includes(`\`${word}\``))).toEqual([]);
});

it('docs/webhooks.md has a row for each scheme, format, status and well-known field', () => {
  const document = textOf('webhooks');
  const own = EVENT_FORMATS.filter((format) => !['auto', 'mapping'].includes(format));
  const words = [...SIGNATURE_SCHEMES, ...own, ...WEBHOOK_EVENT_STATUSES];
  expect(withoutRow(document, words)).toEqual([]);
  const narrow = document.replace(/ +/g, ' ');
  const rows = Object.entries(INCIDENT_FIELDS).map(([key, what]) => `\n| \`${key}\` | ${what} |`);
  expect(rows.filter((row) => !narrow.includes(row))).toEqual([]);
});
