import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type End = () => Promise<void>;

const ends: End[] = [];

/** Makes sure that `work` is done, once: when the answer is called, else when the run ends, whichever way it does. */
export function atEnd(work: End): End {
  let done: Promise<void> | undefined;
  const end = () => (done ??= work());
  ends.push(end);
  return end;
}

/** A folder of this run's own, under the system's one for temporary files. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'its-bench-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Ends what is left, the latest first. What cannot be ended keeps nothing else from its end. */
async function cleanUp(): Promise<void> {
  const errors: unknown[] = [];
  for (const end of ends.splice(0).reverse()) {
    await end().catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

/** Whoever interrupts a run leaves nothing behind either. */
function cleanUpOnSignals(): void {
  for (const [signal, number] of [
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.once(signal, () => {
      process.stderr.write(`${signal}: ending.\n`);
      void cleanUp().finally(() => process.exit(128 + number));
    });
  }
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}

/** Runs a program, and ends what is left however it ends. */
export function runToEnd(main: () => Promise<void>): void {
  cleanUpOnSignals();
  main().catch(fail).finally(cleanUp).catch(fail);
}
