/* What each layer between the socket and a handler costs: processor time of the server per request, beside that of the
 * same app without the layer. Processor time, because throughput says more about what else the machine does. Each round
 * measures every variant once, in turn; the medians are shown.
 *
 *   node --require ./test/support/jobs/run-typescript.cjs test/bench/layers.ts
 *   BENCH_REQUESTS (20000), BENCH_ROUNDS (7), BENCH_CONNECTIONS (16)
 */
import 'reflect-metadata';
import autocannon from 'autocannon';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { LAYERS, type Layer } from './layers-app.js';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 20_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 16);

interface Variant {
  readonly name: string;
  readonly server: ChildProcess;
  readonly url: string;
  readonly micros: number[];
}

async function start(name: string, layers: readonly Layer[]): Promise<Variant> {
  const server = fork(`${__dirname}/layers-app.ts`, [...layers], {
    execArgv: ['--require', `${__dirname}/../support/jobs/run-typescript.cjs`],
  });
  const [url] = (await once(server, 'message')) as [string];
  return { name, server, url, micros: [] };
}

/** Processor time of the server since it was last asked, in microseconds. */
async function processorTime({ server }: Variant): Promise<number> {
  const answer = once(server, 'message');
  server.send('cpu');
  const [micros] = (await answer) as [number];
  return micros;
}

async function measure(variant: Variant, requests: number): Promise<number> {
  await processorTime(variant);
  const result = await autocannon({
    url: variant.url,
    amount: requests,
    duration: 600,
    connections: CONNECTIONS,
    requests: [{ method: 'GET', path: '/things', headers: { 'x-caller': 'ana' } }],
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${variant.name} does not answer.`);
  return (await processorTime(variant)) / requests;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

async function main(): Promise<void> {
  const variants = [
    await start('bare', []),
    ...(await Promise.all(LAYERS.map((layer) => start(`+ ${layer}`, [layer])))),
    await start('all', LAYERS),
  ];
  for (const variant of variants) await measure(variant, REQUESTS / 2);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const variant of variants) variant.micros.push(await measure(variant, REQUESTS));
  }
  const bare = median(variants[0]!.micros);
  for (const { name, micros, server } of variants) {
    const own = median(micros);
    process.stdout.write(
      `${name.padEnd(14)} ${own.toFixed(1).padStart(6)} us/request  ${(own - bare).toFixed(1).padStart(6)} more  x${(own / bare).toFixed(2)}\n`,
    );
    server.kill();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
