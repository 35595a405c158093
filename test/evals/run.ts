import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadCases, PARTS } from './lib/cases.js';
import { evaluate } from './lib/evaluate.js';
import { EVALUATED, modelOf } from './lib/models.js';
import { lines, type Report, reportOf, worseThan } from './lib/report.js';

const HELP = `npm run eval -- [options]
  --set NAME       ${PARTS.join(' or ')}; dev unless told
  --provider NAME  ${EVALUATED.join(' or ')}; rules unless told. anthropic asks the provider of the settings
                   (ANTHROPIC_API_KEY and the others), one paid request or more for each event
  --write          records the report as docs/evals/<provider>-<set>.json
  --check          compares the rules with every recorded report of theirs; fails when a figure is worse
  --mistakes       also lists the cases that were judged otherwise than expected
`;

const RECORDS = resolve(__dirname, '../../docs/evals');
const recordOf = (provider: string, set: string) => join(RECORDS, `${provider}-${set}.json`);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values: options } = parseArgs({
    options: {
      set: { type: 'string', default: 'dev' },
      provider: { type: 'string', default: 'rules' },
      write: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      mistakes: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (options.help) return say(HELP);
  if (options.check) return check();
  const { report, evaluation } = await run(options.provider, options.set);
  say(lines(report).join('\n'));
  for (const { id, reason } of evaluation.unanswered) say(`  no verdict on ${id}: ${reason}`);
  if (options.mistakes) {
    for (const { id, expected, given, confidence } of evaluation.outcomes) {
      if (expected !== given) say(`  ${id}: ${given} (${confidence}) instead of ${expected}`);
    }
  }
  if (options.write) record(report);
}

async function run(provider: string, set: string) {
  if (!PARTS.includes(set)) throw new Error(`No set ${set}: there are ${PARTS.join(', ')}.`);
  const evaluation = await evaluate(modelOf(provider), loadCases(set));
  return { evaluation, report: reportOf(provider, set, evaluation) };
}

function record(report: Report): void {
  const file = recordOf(report.provider, report.set);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  say(`recorded in ${file}`);
}

/**
 * Compares the figures of the rules with the recorded figures. The rules need no network and are deterministic, so no
 * figure may be worse.
 */
async function check(): Promise<void> {
  const recorded = existsSync(RECORDS)
    ? readdirSync(RECORDS).filter((name) => /^rules-.+\.json$/.test(name))
    : [];
  if (recorded.length === 0) throw new Error('No figures of the rules are recorded.');
  for (const name of recorded.sort()) {
    const before = JSON.parse(readFileSync(join(RECORDS, name), 'utf8')) as Report;
    const { report } = await run('rules', before.set);
    const worse = worseThan(before, report);
    say(`${name}: ${worse.length === 0 ? 'holds' : 'is worse'}`);
    for (const line of worse) say(`  ${line}`);
    if (worse.length > 0) process.exitCode = 1;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
