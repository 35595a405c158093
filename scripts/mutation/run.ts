import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startTestServer } from '../../test/support/test-server.js';
import { codeEdits } from './code-operators.ts';
import { type Mutant, mutantOf } from './mutant.ts';
import { sampleOf } from './sample.ts';
import {
  equivalents,
  missing,
  type NamedFault,
  namedFaults,
  type Target,
  targets,
} from './targets.ts';
import { Workspace } from './workspace.ts';

/**
 * Puts faults into the rules and repositories, one at a time, and runs the specs that should notice. See --help.
 */
const HELP = `npm run mutation -- [options]
  --sample N     so many of all faults, chosen by the seed (all of them when it is left out)
  --seed N       1 unless told
  --files TEXT   only files whose path holds the text
  --operator TEXT only kinds of fault whose name holds the text
  --faults       the named faults of scripts/mutation/faults.json instead
  --workers N    so many at once, 2 unless told
  --out FILE     the results as JSON, coverage/mutation.json unless told
  --list         only says which faults there are
`;

const ROOT = resolve(__dirname, '../..');
/** A fault that hangs a test is noticed by that; one that the machine is busy with is not. */
const LONGEST_MS = 600_000;
const SPARE_MS = 30_000;
const SLOWER = 3;

interface Task extends Mutant {
  readonly specs: Target['specs'];
}

interface Result extends Omit<Mutant, 'text'> {
  readonly verdict: 'noticed' | 'timed out' | 'survived' | 'equivalent';
  readonly reason?: string;
}

const { values: options } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    files: { type: 'string', default: '' },
    operator: { type: 'string', default: '' },
    faults: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    out: { type: 'string', default: 'coverage/mutation.json' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function tasksOf(target: Target): Task[] {
  return target.files.flatMap((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    return codeEdits(file, source).map((edit) => ({
      ...mutantOf(file, source, edit),
      specs: target.specs,
    }));
  });
}

function taskOfFault({ name, file, from, to }: NamedFault): Task {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const start = source.indexOf(from);
  if (start < 0 || source.includes(from, start + 1)) {
    throw new Error(`The fault "${name}" cannot be put into ${file}: its text is not there once.`);
  }
  const target = targets.find(({ files }) => files.includes(file));
  if (!target) throw new Error(`No target has ${file}.`);
  const edit = { operator: name, start, end: start + from.length, replacement: to };
  return { ...mutantOf(file, source, edit), specs: target.specs };
}

function chosen(): Task[] {
  if (options.faults) return namedFaults.map(taskOfFault);
  const all = targets
    .flatMap(tasksOf)
    .filter(
      ({ file, operator }) => file.includes(options.files) && operator.includes(options.operator),
    );
  return sampleOf(all, Number(options.sample ?? all.length), Number(options.seed));
}

const equivalentTo = (mutant: Mutant) =>
  equivalents.find(
    ({ file, before, after }) =>
      file === mutant.file && before === mutant.before && after === mutant.after,
  );

async function judge(workspace: Workspace, { specs, ...mutant }: Task): Promise<Result> {
  const { text, ...shown } = mutant;
  const equivalent = equivalentTo(mutant);
  if (equivalent) return { ...shown, verdict: 'equivalent', reason: equivalent.reason };
  for (const stage of specs) {
    const limit = await limitOf(workspace, stage);
    workspace.put(mutant.file, text);
    const verdict = await workspace.run(stage, limit);
    workspace.restore(mutant.file);
    if (verdict === 'failed') return { ...shown, verdict: 'noticed' };
    if (verdict === 'timed out') return { ...shown, verdict };
  }
  return { ...shown, verdict: 'survived' };
}

const limits = new Map<Target['specs'][number], Promise<number>>();

/** How long a stage may take with a fault. Without one all of it has to pass, or nothing is measured. */
function limitOf(workspace: Workspace, stage: readonly string[]): Promise<number> {
  const measure = async (): Promise<number> => {
    const started = performance.now();
    const verdict = await workspace.run(stage, LONGEST_MS);
    if (verdict !== 'passed') throw new Error(`Without a fault: ${stage.join(' ')} ${verdict}.`);
    return SPARE_MS + SLOWER * (performance.now() - started);
  };
  const known = limits.get(stage) ?? measure();
  limits.set(stage, known);
  return known;
}

function report(results: readonly Result[], all: number): void {
  const count = (verdict: Result['verdict']) =>
    results.filter((result) => result.verdict === verdict).length;
  const [noticed, timedOut] = [count('noticed'), count('timed out')];
  const judged = results.length - count('equivalent');
  const score = (noticed + timedOut) / Math.max(1, judged);
  for (const { verdict, file, line, operator, before, after } of results) {
    if (verdict === 'survived')
      say(`survived ${file}:${line} ${operator}\n  - ${before}\n  + ${after}`);
  }
  say(
    `${results.length} of ${all} faults: ${noticed} noticed, ${timedOut} timed out, ${count('survived')} survived, ` +
      `${count('equivalent')} equivalent. Score ${score.toFixed(3)} of ${judged}.`,
  );
  const summary = { score, judged, of: all, seed: Number(options.seed) };
  mkdirSync(dirname(options.out), { recursive: true });
  writeFileSync(options.out, `${JSON.stringify({ ...summary, results }, null, 2)}\n`);
}

async function main(): Promise<void> {
  if (options.help) return say(HELP);
  const gone = missing(ROOT);
  if (gone.length > 0) throw new Error(`Not there any more: ${gone.join(', ')}`);
  const all = options.faults ? namedFaults.length : targets.flatMap(tasksOf).length;
  const tasks = chosen();
  if (options.list) {
    for (const { file, line, operator, before, after } of tasks) {
      say(`${file}:${line} ${operator}\n  - ${before}\n  + ${after}`);
    }
    return say(`${tasks.length} of ${all} faults.`);
  }
  await startTestServer();
  const workspaces = Array.from({ length: Number(options.workers) }, () => new Workspace(ROOT));
  const results: Result[] = [];
  process.once('exit', () => workspaces.forEach((workspace) => workspace.remove()));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      report(results, all);
      process.exit(1);
    });
  }
  try {
    const queue = tasks.values();
    const work = async (workspace: Workspace) => {
      for (const task of queue) {
        const result = await judge(workspace, task);
        results.push(result);
        const { file, line, operator } = task;
        say(`${results.length}/${tasks.length} ${result.verdict} ${file}:${line} ${operator}`);
      }
    };
    await Promise.all(workspaces.map(work));
    report(results, all);
  } finally {
    await globalThis.testServer?.stop();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
});
