import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Checks other than the tests, the longest first. Runs every check, and shows the full output of each failed check. */
const OF_THE_SOURCE = ['lint', 'typecheck', 'format:check', 'floors', 'eval:check'];
const OF_THE_BUILD = ['openapi:check', 'openapi:lint'];

function run(script) {
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${script} (${seconds} s)`);
      resolve({ script, ok: code === 0, output });
    });
  });
}

const results = [];
async function worker(queue) {
  for (let next = queue.shift(); next; next = queue.shift()) results.push(await run(next));
}

const queue = [...OF_THE_SOURCE];
async function buildAndCheck() {
  const built = await run('build');
  results.push(built);
  if (built.ok) queue.push(...OF_THE_BUILD);
  else console.log(`Not checked without a build: ${OF_THE_BUILD.join(', ')}`);
  await worker(queue);
}
const others = Array.from({ length: Math.min(2, availableParallelism()) - 1 }, () => worker(queue));
await Promise.all([buildAndCheck(), ...others]);

const failed = results.filter(({ ok }) => !ok);
for (const { script, output } of failed) console.log(`\n--- ${script}\n${output.trim()}`);
console.log(`\n${results.length - failed.length} of ${results.length} checks hold.`);
process.exitCode = failed.length > 0 ? 1 : 0;
