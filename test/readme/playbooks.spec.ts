import { readFileSync } from 'node:fs';
import { sameAnswer, shellBlocks } from '../../scripts/readme/blocks.js';
import { answersOf } from '../../scripts/readme/shell.js';
import { actionType } from '../../src/action-catalogue/action-types.js';
import { higherLevel, levelByDefault } from '../../src/actions/policy/required-levels.js';
import { DefaultSandbox } from '../../src/connectors/connectors.service.js';
import { ROOTS } from '../../src/playbooks/language/expression-tree.js';
import {
  LONGEST_DEFINITION,
  LONGEST_EXPRESSION,
  LONGEST_TEMPLATE,
  MOST_EXPRESSIONS,
  MOST_STEPS,
} from '../../src/playbooks/language/playbook-definition.js';
import type { PlaybookStep } from '../../src/playbooks/playbook.js';
import { PLAYBOOK_RUN_STATUSES } from '../../src/playbooks/runs/playbook-run.js';
import { SHIPPED_PLAYBOOKS } from '../../src/playbooks/shipped/shipped-playbooks.js';
import { readContract } from '../support/contract-check-document.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Every shell block of docs/playbooks.md, in their order, as a reader would run them. */
describe('docs/playbooks.md', () => {
  const document = readFileSync('docs/playbooks.md', 'utf8');
  const blocks = shellBlocks(document);
  const rowsOf = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  const names = new Set(rowsOf(document).map(([, name]) => name));
  let app: TestApp;
  let answers: string[];

  beforeAll(async () => {
    app = await startTestApp({ settings: { TRIAGE_PROVIDER: 'rules' } });
    await app.nest.get(DefaultSandbox).createOnFirstStart();
    const { key } = await makeKey(app, 'admin', { name: 'bootstrap-admin' });
    const place = { cwd: process.cwd(), port: String(app.port), before: `KEY='${key}'` };
    answers = await answersOf(blocks, place);
  });
  afterAll(() => app?.close());

  it('shows the answers that the service gives', () => {
    const shown = blocks.flatMap((block, index) =>
      block.shown === undefined ? [] : [[block.shown, answers[index]!] as const],
    );
    expect(shown.length).toBeGreaterThan(7);
    for (const [expected, actual] of shown) {
      if (!sameAnswer(expected, actual)) expect(actual).toBe(expected);
    }
  });

  const approvalOf = ({ action, approval_level: asked }: PlaybookStep): string => {
    const level = higherLevel(levelByDefault({}, actionType(action)), asked ?? 'none');
    return level === 'none' ? '' : level;
  };

  it.each(SHIPPED_PLAYBOOKS)('has a section for $name, with its steps as they are', (shipped) => {
    const [, section] = document.split(`\n### ${shipped.name}\n`);
    const rows = rowsOf(section!.split('\n### ')[0]!.split('\n## ')[0]!);
    expect(rows.map(([, name, action, , approval]) => [name, action, approval])).toEqual(
      shipped.definition.steps.map((step) => [step.name, step.action, approvalOf(step)]),
    );
  });

  it('has a row for each field, each name of expressions, and each status of a run', () => {
    const { schemas } = readContract().components;
    const fields = ['PlaybookInput', 'PlaybookStepInput'].flatMap((name) =>
      Object.keys(schemas[name]!.properties!),
    );
    const rows = [...fields, ...ROOTS, ...PLAYBOOK_RUN_STATUSES];
    expect(rows.filter((name) => !names.has(name))).toEqual([]);
  });

  it('says the bounds that there are', () => {
    const { description, instructions } = readContract().components.schemas['PlaybookInput']!
      .properties! as Record<string, { maxLength?: number }>;
    const bounds = [
      `${spaced(description!.maxLength!)} characters`,
      `${spaced(instructions!.maxLength!)} characters`,
      `${MOST_STEPS} steps`,
      `${spaced(LONGEST_DEFINITION)} characters`,
      `${spaced(LONGEST_EXPRESSION)} characters`,
      `${spaced(LONGEST_TEMPLATE)} characters`,
      `${MOST_EXPRESSIONS} expressions`,
    ];
    expect(bounds.filter((bound) => !document.includes(bound))).toEqual([]);
  });
});

function spaced(count: number): string {
  return String(count).replace(/(?=(?:\d{3})+$)(?<=\d)/g, ' ');
}
