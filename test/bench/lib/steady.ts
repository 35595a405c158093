import { setTimeout as sleep } from 'node:timers/promises';
import { SpoiltShot } from './load.ts';
import type { Target } from './processes.ts';

/** A request that is made again and again. Without a name nobody waits for its answers, nor looks at them. */
export interface Stream {
  readonly what: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
}

/** Milliseconds from the request to the last byte of its answer. */
export type Timed = number;

export interface Steady {
  /** By stream. */
  readonly timed: readonly (readonly Timed[])[];
  /** Settles when those have ended, too, for which nobody waited. */
  readonly left: Promise<unknown>;
}

/** Each stream at so many requests a second, however long the answers take: a slow answer makes no room for the next. */
export async function steady(
  target: Target,
  streams: readonly Stream[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Steady> {
  const timed = streams.map((): Timed[] => []);
  const waited: Promise<void>[] = [];
  const left: Promise<unknown>[] = [];
  const start = performance.now();
  for (let turn = 0; turn < perSecond * seconds; turn += 1) {
    const due = start + (turn * 1_000) / perSecond;
    await sleep(Math.max(0, due - performance.now()));
    streams.forEach(({ what, method, path, body }, at) => {
      const begun = performance.now();
      const asked = ask(target, method, path, body);
      if (!what) return void left.push(asked.catch(() => undefined));
      waited.push(asked.then(() => void timed[at]!.push(performance.now() - begun)));
    });
  }
  await Promise.all(waited);
  return { timed, left: Promise.all(left) };
}

interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
}

export async function ask(
  { url, headers }: Target,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new SpoiltShot(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Answer;
}
