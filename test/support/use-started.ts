import { startTestApp, type TestApp, type TestAppOptions } from './test-app.js';

const ENDS = ['close', 'stop', 'drop', 'end'] as const;
type Started = {
  [End in (typeof ENDS)[number]]: Record<End, () => unknown>;
}[(typeof ENDS)[number]];

const open: (() => unknown)[] = [];

/**
 * Starts a resource before the tests of the `describe` block and ends it after them. Of several resources, the one that
 * started last ends first.
 */
export function useStarted<T extends Started>(start: () => T | Promise<T>): T {
  let started: T | undefined;
  beforeAll(async () => {
    open.push(() => {
      const ends: Partial<Record<string, () => unknown>> = started ?? {};
      return ends[ENDS.find((end) => end in ends)!]?.();
    });
    started = await start();
  });
  afterAll(() => open.pop()?.());
  return standingFor(() => started!);
}

/** Starts the service and a second replica on the same database, in the same way as `useStarted`. */
export function useReplicas(options: TestAppOptions = {}): readonly [TestApp, TestApp] {
  const both = useStarted(async () => {
    const app = await startTestApp(options);
    const replica = await startTestApp({ ...options, database: app.database });
    return { app, replica, close: () => replica.close().then(() => app.close()) };
  });
  return [standingFor(() => both.app), standingFor(() => both.replica)];
}

/** Returns a placeholder for a resource that starts only before the tests. */
export function standingFor<T extends object>(started: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const value: unknown = Reflect.get(started(), name);
      return typeof value === 'function' ? (value.bind(started()) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(started(), name, value),
  });
}
