import { existsSync, readFileSync } from 'node:fs';
import { run } from './postgres.ts';
import type { Target } from './processes.ts';

/** In microseconds; each absent where it cannot be known: not on Linux, or a PostgreSQL on another machine. */
export interface ProcessorTime {
  readonly server?: number;
  /** Of the backends that serve the server's database; those that sum up and clean up for it included. */
  readonly postgres?: number;
  /** Of what sends the requests, where that was counted. */
  readonly generator?: number;
}

interface Reading {
  readonly server: number;
  readonly backends: ReadonlyMap<number, number>;
}

/** Linux tells processor time in hundredths of a second. */
const MICROS_PER_TICK = 10_000;

/** Counts from now on; the answer tells how much it was. */
export async function countProcessorTime(target: Target): Promise<() => Promise<ProcessorTime>> {
  if (!existsSync('/proc/self/stat')) return async () => ({});
  const before = await read(target);
  return async () => {
    const after = await read(target);
    const used = [...after.backends].map(([pid, time]) => time - (before.backends.get(pid) ?? 0));
    return {
      server: after.server - before.server,
      ...(used.length > 0 && { postgres: used.reduce((sum, time) => sum + time, 0) }),
    };
  };
}

async function read({ pid, databaseUrl }: Target): Promise<Reading> {
  const rows = await run<{ pid: number }>(
    databaseUrl,
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  const backends = rows.flatMap((row): [number, number][] => {
    const time = timeOf(row.pid, 'postgres');
    return time === undefined ? [] : [[row.pid, time]];
  });
  return { server: timeOf(pid) ?? NaN, backends: new Map(backends) };
}

/** Undefined when there is no such process, or when it is another one by now. */
function timeOf(pid: number, name?: string): number | undefined {
  try {
    // The name is in parentheses and may hold any character; utime and stime are 11 and 12 fields after it.
    const [, found, rest] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
    if (name !== undefined && found !== name) return undefined;
    const fields = rest!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
  } catch {
    return undefined;
  }
}
