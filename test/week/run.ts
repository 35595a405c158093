import { parseArgs } from 'node:util';
import { runToEnd } from '../bench/lib/processes.ts';
import { measure, type Row } from './lib/measure.ts';
import { play, type Played } from './lib/play.ts';
import { runSamples } from './lib/samples.ts';
import { type Message, startSite, waitUntilExpired } from './lib/site.ts';
import { shortWeek, week } from './lib/week.ts';

interface Bound {
  /** Goal, as shown in the table. */
  readonly required: string;
  /** Maximum for the whole week. `short`: maximum for the short form. */
  readonly long: number;
  readonly short: number;
}

const both = (most: number, required: string): Bound => ({ required, long: most, short: most });

/** Bounds of the rows. A bound above the goal is the current figure with some margin: lower it whenever the figure gets better. */
const BOUNDS: Readonly<Record<string, Bound>> = {
  'steps that fail to evaluate': both(0, '0'),
  'delivered mails judged malicious whose quarantine was not asked for': both(0, '0'),
  'incidents of type `other`': both(10, '≤ 10 %'),
  'alerts that the tool calls critical, malicious or confirmed: `inconclusive`': both(20, '≤ 20 %'),
  'the same: false `benign`': both(0, '0'),
  'newsletters and other plain mail: `suspicious` or worse': both(10, '≤ 10 %'),
  'messages to people': { required: '≤ 250', long: 250, short: 110 },
  'messages about the wave of 40': both(3, '≤ 3'),
  'the first message about a critical incident: the longest wait': both(5, '≤ 5 s'),
  'failures that no list, no timeline and no channel shows': both(0, '0'),
};

/* Replays a week against the built service as a process: generated events of every preset and format with ground truth, and the
 * work of three people. Measures the results by the API and by the recorded messages, and prints one table.
 *
 *   npm run week                     the whole week
 *   npm run week -- --short          the days of the wave and of the campaign, for CI
 *   npm run week -- --show           adds the items behind each figure and the longest ten messages and reasonings
 *   npm run week -- --seed 7         another week
 *
 * Exits with 1 if a row exceeds its bound. BENCH_DATABASE_URL: PostgreSQL to use instead of an embedded one. BENCH_DIST (dist).
 */

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
  // People must decide before the first reminder, even on a busy machine. The whole week has a shorter window, because
  // it waits until approvals expire.
  const site = await startSite({ APPROVAL_TTL_MINUTES: values.short ? '30' : '3' });
  const days = (values.short ? shortWeek : week)(Number(values.seed));
  const senders = new Set(days.flatMap(({ posts }) => posts.map(({ source }) => source)));
  const silent = site.sources.filter((source) => !senders.has(source));
  if (silent.length > 0) throw new Error(`The week has no event of ${silent.join(', ')}.`);
  const played = await play(site, days);
  if (!values.short) await waitUntilExpired(site.admin);
  await site.passHour();
  const deliveries = await site.admin.list(`/api/notification-channels/${site.channel}/deliveries`);
  const received = { messages: [...site.messages], deliveries };
  const rows = await measure(site, played, received, await runSamples(site));
  const seconds = Math.round((Date.now() - begun) / 1_000);
  print(`${played.events} events, ${played.stories.length} incidents, ${seconds} s`);
  for (const rejection of played.rejected) print(`rejected: ${rejection}`);
  printTable(rows, values.short);
  if (values.show) printDetails(rows, played, received.messages);
}

function printTable(rows: readonly Row[], isShort: boolean): void {
  print('| row | now | bound | required |');
  print('| --- | --- | --- | --- |');
  for (const { name, shown, value, unit = '' } of rows) {
    const bound = BOUNDS[name]!;
    const most = isShort ? bound.short : bound.long;
    print(`| ${name} | ${shown} | ${most} ${unit} | ${bound.required} |`);
    if (value <= most) continue;
    print(`FAILED: ${name}: ${shown} exceeds ${most} ${unit}`);
    process.exitCode = 1;
  }
}

const MOST_SHOWN = 30;

function printDetails(
  rows: readonly Row[],
  { stories }: Played,
  messages: readonly Message[],
): void {
  for (const { name, details } of rows.filter((row) => row.details.length > 0)) {
    print(`\n${name}`);
    for (const detail of details.slice(0, MOST_SHOWN)) print(`  ${detail}`);
    if (details.length > MOST_SHOWN) print(`  … ${details.length - MOST_SHOWN} more`);
  }
  printLongest(
    'messages',
    messages.map(({ words }) => words),
  );
  printLongest(
    'reasonings',
    stories.map(({ first }) => (first.verdict?.reasoning as string) ?? ''),
  );
}

function printLongest(what: string, texts: readonly string[]): void {
  print(`\nThe longest ${what}`);
  const different = [...new Set(texts)].toSorted((a, b) => b.length - a.length).slice(0, 10);
  for (const text of different) print(`--- ${text.length} characters\n${text}`);
}

void runToEnd(main);
