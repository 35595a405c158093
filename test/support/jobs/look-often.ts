import { BackgroundLoop } from '../../../src/platform/concurrency/background-loop.js';
import { RunQueue as TriageRunQueue } from '../../../src/triage/runs/run-queue.js';
import type { TestApp } from '../test-app.js';

const PAUSE_MS = 100;

/**
 * Shortens the pauses of the loops that look for due and lapsed work. The pauses follow the lease, and a test needs a
 * lease that no slow machine outlasts.
 */
export function lookOften({ nest }: TestApp): void {
  for (const owner of [TriageRunQueue]) {
    const service: object = nest.get(owner);
    if ('pauseMs' in service) Object.assign(service, { pauseMs: PAUSE_MS });
    for (const loop of Object.values(service)) {
      if (!(loop instanceof BackgroundLoop)) continue;
      Object.assign(loop['options'], { pauseMs: PAUSE_MS });
      loop.wake();
    }
  }
}
