/** What was set up, taken back in reverse order, once. */
export class UndoList {
  private readonly steps: (() => unknown)[] = [];
  private done?: Promise<void>;

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  run(): Promise<void> {
    return (this.done ??= this.takeBack());
  }

  /** A step that fails does not keep the others, the lock above all, from being taken back. */
  private async takeBack(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.steps.reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
