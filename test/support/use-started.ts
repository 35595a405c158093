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
  return new Proxy({} as T, {
    get: (_, name) => {
      const value: unknown = Reflect.get(started!, name);
      return typeof value === 'function' ? (value.bind(started) as unknown) : value;
    },
  });
}
