const Real = globalThis.Date;

/** Sets the clock of this machine, as far as the service can see it: the database keeps its own. Undone by 0. */
export function setMachineClock(aheadMs: number): void {
  globalThis.Date = aheadMs === 0 ? Real : dateAhead(aheadMs);
}

function dateAhead(ms: number): DateConstructor {
  return new Proxy(Real, {
    construct: (target, given: [], asked) =>
      Reflect.construct(target, given.length === 0 ? [Real.now() + ms] : given, asked) as Date,
    get: (target, name) => {
      if (name === 'now') return () => Real.now() + ms;
      return Reflect.get(target, name) as unknown;
    },
  });
}
