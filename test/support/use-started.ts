import { startTestApp, type TestApp, type TestAppOptions } from './test-app.js';

type Started = { close(): Promise<unknown> } | { stop(): Promise<unknown> };

/** Starts something before the tests of the `describe` block, ends it after them, and stands for it in between. */
export function useStarted<T extends Started>(start: () => Promise<T>): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started && ('close' in started ? started.close() : started.stop()));
  return standingFor(() => started!);
}

/** The service and a second replica on the same database, as with `useStarted`. */
export function useReplicas(options: TestAppOptions = {}): readonly [TestApp, TestApp] {
  const both = useStarted(async () => {
    const app = await startTestApp(options);
    const replica = await startTestApp({ ...options, database: app.database });
    return { app, replica, close: () => replica.close().then(() => app.close()) };
  });
  return [standingFor(() => both.app), standingFor(() => both.replica)];
}

function standingFor<T extends object>(started: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const value: unknown = Reflect.get(started(), name);
      return typeof value === 'function' ? (value.bind(started()) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(started(), name, value),
  });
}
