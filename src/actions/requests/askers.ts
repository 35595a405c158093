import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action } from '../action.js';

/** Who else stands behind an action, such as the authors of the playbook that asked for it by itself. */
export type AskersBehind = (tx: Tx, action: Action) => Promise<readonly string[]>;

/** Who asked for an action: where four eyes are wanted, none of them approves it, or undoes it, alone. */
@Injectable()
export class Askers {
  private readonly sources: AskersBehind[] = [];

  /** Modules on floors above register in `onModuleInit`, because this module may not import them. */
  register(source: AskersBehind): void {
    this.sources.push(source);
  }

  async of(tx: Tx, action: Action): Promise<readonly string[]> {
    const { requestedBy, onBehalfOf } = action;
    const behind = await Promise.all(this.sources.map((source) => source(tx, action)));
    return [requestedBy, ...(onBehalfOf === undefined ? [] : [onBehalfOf]), ...behind.flat()];
  }
}
