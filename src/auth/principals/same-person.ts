import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transactions.js';
import type { Principal } from '../principal.js';
import { PrincipalsRepository } from './principals.repository.js';

/** Tells whether two principals are one person: approving needs a second one where four eyes are wanted. */
@Injectable()
export class SamePerson {
  constructor(private readonly repository: PrincipalsRepository) {}

  /**
   * Whether the caller is the person whom records call `name`: by the same name, as the user behind that key, as a key
   * of that user, or as a key that was made with the other one. Names are never used again, so that the answer is right
   * for the oldest record, too.
   */
  async isSamePerson(
    tx: Tx,
    caller: Pick<Principal, 'name' | 'person'>,
    name: string,
  ): Promise<boolean> {
    if (caller.name === name || caller.person === name) return true;
    return await this.repository.areSamePerson(tx, caller.name, name);
  }

  async isAmong(
    tx: Tx,
    caller: Pick<Principal, 'name' | 'person'>,
    names: readonly string[],
  ): Promise<boolean> {
    for (const name of names) {
      if (await this.isSamePerson(tx, caller, name)) return true;
    }
    return false;
  }
}
