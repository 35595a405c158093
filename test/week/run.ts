/* A week that is replayed: events of every preset and format, with what they truly are, against the built service as a process;
 * tools send, people work, and what came of it is measured by the answers of the API and by the messages that arrived.
 *
 *   npm run week                     the whole week
 *   npm run week -- --short          the two days of the wave and of the campaign, for a check of each change
 *   npm run week -- --show           also what each row counted, and the longest ten messages and reasonings
 *   npm run week -- --seed 7         another week
 *
 * Ends with 1 when a row is worse than its bound. BENCH_DATABASE_URL is a PostgreSQL to use; else an embedded one is started.
 */
import { parseArgs } from 'node:util';
import { cleanUp, cleanUpOnSignals } from '../bench/lib/cleanup.ts';
import { BOUNDS } from './bounds.ts';
import { measure, type Row } from './lib/measure.ts';
import { play, type Played } from './lib/play.ts';
import { runSamples } from './lib/samples.ts';
import { type Message, startSite, untilExpired } from './lib/site.ts';
import { shortWeek, week } from './lib/week.ts';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      short: { type: 'boolean', default: false },
      show: { type: 'boolean', default: false },
      seed: { type: 'string', default: '25' },
    },
  });
  const begun = Date.now();
  const site = await startSite();
  const days = (values.short ? shortWeek : week)(Number(values.seed));
  const senders = new Set(days.flatMap(({ posts }) => posts.map(({ source }) => source)));
  const silent = site.sources.filter((source) => !senders.has(source));
  if (silent.length > 0) throw new Error(`The week has no event of ${silent.join(', ')}.`);
  const played = await play(site, days);
  if (!values.short) await untilExpired(site.admin);
  await site.later();
  const deliveries = await site.admin.all(`/api/notification-channels/${site.channel}/deliveries`);
  const heard = { messages: [...site.messages], deliveries };
  const rows = await measure(site, played, heard, await runSamples(site));
  const seconds = Math.round((Date.now() - begun) / 1_000);
  print(`${played.events} events, ${played.stories.length} incidents, ${seconds} s`);
  for (const refusal of played.refused) print(`refused: ${refusal}`);
  printTable(rows, values.short);
  if (values.show) show(rows, played, heard.messages);
}

function printTable(rows: readonly Row[], isShort: boolean): void {
  print('| row | now | held | asked |');
  print('| --- | --- | --- | --- |');
  for (const { name, shown, value, unit = '' } of rows) {
    const bound = BOUNDS[name]!;
    const most = isShort ? bound.short : bound.long;
    print(`| ${name} | ${shown} | ${most} ${unit} | ${bound.asked} |`);
    if (value <= most) continue;
    print(`FAILED: ${name}: ${shown} is more than ${most} ${unit}`);
    process.exitCode = 1;
  }
}

const MOST_SHOWN = 30;

function show(rows: readonly Row[], { stories }: Played, messages: readonly Message[]): void {
  for (const { name, details } of rows.filter((row) => row.details.length > 0)) {
    print(`\n${name}`);
    for (const detail of details.slice(0, MOST_SHOWN)) print(`  ${detail}`);
    if (details.length > MOST_SHOWN) print(`  … ${details.length - MOST_SHOWN} more`);
  }
  longest(
    'messages',
    messages.map(({ words }) => words),
  );
  longest(
    'reasonings',
    stories.map(({ first }) => (first.verdict?.reasoning as string) ?? ''),
  );
}

function longest(what: string, texts: readonly string[]): void {
  print(`\nThe longest ${what}`);
  const different = [...new Set(texts)].toSorted((a, b) => b.length - a.length).slice(0, 10);
  for (const text of different) print(`--- ${text.length} characters\n${text}`);
}

function fail(error: unknown): void {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
}

cleanUpOnSignals();
main().catch(fail).finally(cleanUp).catch(fail);
