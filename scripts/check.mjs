import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Everything that must hold besides the tests. All of it runs, and what fails is shown in full. */
const OF_THE_SOURCE = ['lint', 'typecheck', 'format:check', 'floors', 'duplicates', 'eval:check'];
const OF_THE_BUILD = [
  'openapi:check',
  'env-example:check',
  'webhook-presets:check',
  'openapi:lint',
];

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

async function worker(queue, results) {
  for (let next = queue.shift(); next; next = queue.shift()) results.push(await run(next));
}

// Made once, before the checks that need it start side by side.
const built = await run('build');
const results = [built];
const queue = [...OF_THE_SOURCE, ...(built.ok ? OF_THE_BUILD : [])];
await Promise.all(
  Array.from({ length: Math.min(2, availableParallelism()) }, () => worker(queue, results)),
);
const failed = results.filter(({ ok }) => !ok);
for (const { script, output } of failed) console.log(`\n--- ${script}\n${output.trim()}`);
if (!built.ok) console.log(`\nNot checked without a build: ${OF_THE_BUILD.join(', ')}`);
console.log(`\n${results.length - failed.length} of ${results.length} checks hold.`);
process.exitCode = failed.length > 0 ? 1 : 0;
