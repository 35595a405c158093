import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transactions.js';
import type { Principal } from '../principal.js';
import { PrincipalsRepository } from './principals.repository.js';

/** Tells one person from another, wherever a second one is needed. */
@Injectable()
export class SamePerson {
  constructor(private readonly repository: PrincipalsRepository) {}

  /**
   * Whether the caller is the one whom records call `name`: by the same name, as the user behind it or as its key, or
   * as a key that one of the two made. Names are never reused, so that this holds for the oldest record, too.
   */
  async isSamePerson(
    tx: Tx,
    caller: Pick<Principal, 'name' | 'person'>,
    name: string,
  ): Promise<boolean> {
    if (caller.name === name || caller.person === name) return true;
    return await this.repository.areSamePerson(tx, caller.name, name);
  }
}
