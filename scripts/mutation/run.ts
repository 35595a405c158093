import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
import { type Verdict, Workspace } from './workspace.ts';

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
  --out FILE     the results as JSON, mutation.json.log unless told
  --list         only says which faults there are
`;

const ROOT = resolve(__dirname, '../..');
/** Longer than any stage takes on a busy machine; a fault that hangs a test is noticed by that. */
const LIMIT_MS = 150_000;

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
    out: { type: 'string', default: 'mutation.json.log' },
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
  workspace.put(mutant.file, text);
  try {
    for (const stage of specs) {
      const verdict: Verdict = await workspace.run(stage, LIMIT_MS);
      if (verdict === 'failed') return { ...shown, verdict: 'noticed' };
      if (verdict === 'timed out') return { ...shown, verdict };
    }
    return { ...shown, verdict: 'survived' };
  } finally {
    workspace.restore(mutant.file);
  }
}

/** Without a fault everything has to pass, or nothing is measured. */
async function requireGreen(workspace: Workspace, tasks: readonly Task[]): Promise<void> {
  for (const specs of new Set(tasks.flatMap((task) => task.specs))) {
    const verdict = await workspace.run(specs, LIMIT_MS * 2);
    if (verdict !== 'passed') throw new Error(`Without a fault: ${specs.join(' ')} ${verdict}.`);
  }
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
  const tidy = () => workspaces.forEach((workspace) => workspace.remove());
  process.once('exit', tidy);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    await requireGreen(workspaces[0]!, tasks);
    const queue = tasks.entries();
    const results: Result[] = [];
    const work = async (workspace: Workspace) => {
      for (const [index, task] of queue) {
        const result = await judge(workspace, task);
        results[index] = result;
        say(
          `${results.filter(Boolean).length}/${tasks.length} ${result.verdict} ${task.file}:${task.line} ${task.operator}`,
        );
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
