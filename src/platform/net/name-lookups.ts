/** A name server that is well answers within it, also on a busy machine. */
const PROMPT_MS = 1_000;

/**
 * Looks names up as the system does, which takes a thread of the few that the process has, and keeps it until the look-up
 * ENDS: whoever gives it up frees nothing. So a name server that hangs must not take the threads that others need. A name
 * is looked up once at a time, for all who ask meanwhile. And those that were slow the last time wait for each other:
 * together they take one thread, however many they are and however often somebody asks.
 */
export class NameLookups<T> {
  private readonly underWay = new Map<string, Promise<T>>();
  /** By name. Only who configures the service chooses names, so they are few. */
  private readonly slow = new Set<string>();
  private lastOfSlow: Promise<unknown> = Promise.resolve();

  constructor(private readonly lookUp: (name: string) => Promise<T>) {}

  find(name: string): Promise<T> {
    const present = this.underWay.get(name);
    if (present) return present;
    const found = this.slow.has(name) ? this.afterOtherSlow(name) : this.measured(name);
    this.underWay.set(name, found);
    // Whoever asked may have given up: nobody hears of the failure then.
    void found.catch(() => undefined).finally(() => this.underWay.delete(name));
    return found;
  }

  private afterOtherSlow(name: string): Promise<T> {
    const found = this.lastOfSlow.then(() => this.measured(name));
    this.lastOfSlow = found.catch(() => undefined);
    return found;
  }

  /** It counts as slow as soon as it is late, and not only when it ends. */
  private async measured(name: string): Promise<T> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.slow.add(name);
    }, PROMPT_MS);
    timer.unref();
    try {
      return await this.lookUp(name);
    } finally {
      clearTimeout(timer);
      if (!isLate) this.slow.delete(name);
    }
  }
}
