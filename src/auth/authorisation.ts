import { Injectable } from '@nestjs/common';
import {
  type ApprovalLevel,
  approvalLevelOf,
  levelReaches,
  type Role,
  roleReaches,
} from '../platform/access/roles.js';
import { InsufficientApprovalLevelError, RoleTooLowError } from './auth.errors.js';
import type { Principal } from './principal.js';
import type { Tx } from '../platform/database/transactions.js';
import { PrincipalsRepository } from './principals/principals.repository.js';

/*
 * The permissions of a caller depend on the role only; platform/access/roles.ts has the order of roles. Guards check
 * them before a request costs anything. Transactions check them again with the role at that time. RefusalFilter records
 * each refusal in the audit trail.
 */

type Caller = Pick<Principal, 'name' | 'role'>;

export function requireRole(caller: Caller, required: Role): void {
  if (!roleReaches(caller.role, required)) throw new RoleTooLowError(caller, required);
}

export function requireApprovalLevel(caller: Caller, required: ApprovalLevel): void {
  const own = approvalLevelOf(caller.role);
  if (!levelReaches(own, required)) throw new InsufficientApprovalLevelError(caller, own, required);
}

/** Compares persons for the four-eyes check. */
@Injectable()
export class SamePerson {
  constructor(private readonly repository: PrincipalsRepository) {}

  /**
   * Whether the caller and `name` are the same person: the same name, a user and one of their keys, or two keys that
   * one user created. Names are never reused, so this also holds for old records.
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
