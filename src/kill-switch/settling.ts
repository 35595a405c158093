import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { PERMIT_MS } from './permit.js';

/** For timers that fire early, and for the way from the last check of a permit to the socket. */
const MARGIN_MS = 50;

/** An activation that is this old by the database's clock is settled, even if that clock was set a little meanwhile. */
const OLD_MS = 10_000;

/**
 * The time after which no permit from before an activation holds. Always waited for in full: whether all claims have
 * ended cannot be known, because a replica that hung may have lost one to another and not know it yet.
 */
@Injectable()
export class EarlierPermits {
  async waitUntilLapsed(activeForMs: number): Promise<void> {
    if (activeForMs < OLD_MS) await sleep(PERMIT_MS + MARGIN_MS);
  }
}
