import { startTestApp, type TestApp } from './test-app.js';

interface Closable {
  close(): Promise<unknown>;
}

/** Starts something before the tests of the `describe` block, closes it after them, and stands for it in between. */
export function useStarted<T extends Closable>(start: () => Promise<T>): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started?.close());
  return standingFor(() => started!);
}

/** The service and a second replica on the same database, as with `useStarted`. */
export function useReplicas(): readonly [TestApp, TestApp] {
  const both = useStarted(async () => {
    const app = await startTestApp();
    const replica = await startTestApp({ database: app.database });
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
  });
}
