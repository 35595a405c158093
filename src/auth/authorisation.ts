import { Injectable } from '@nestjs/common';
import {
  type ApprovalLevel,
  approvalLevelOf,
  levelReaches,
  type Role,
  roleReaches,
} from '../platform/access/roles.js';
import {
  InsufficientApprovalLevelError,
  RoleTooLowError,
  UnauthorizedError,
} from './auth.errors.js';
import type { Principal, VerifiedCredential } from './principal.js';
import type { KeyLimitClass, LimitClass } from '../platform/http/caller.js';
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

/** Reads the role of the credential in the transaction; `undefined` if the credential is no longer valid. */
type ReadRole = (tx: Tx, credential: VerifiedCredential) => Promise<Role | undefined>;

/**
 * Principal of one request. Guards accept a credential that was read up to 1 s ago; each writing transaction reads it
 * again.
 */
export class AuthenticatedPrincipal implements Principal {
  readonly kind: 'key' | 'user';
  readonly id: string;
  readonly name: string;
  readonly person: string;
  readonly personId?: string;
  readonly limitClass?: KeyLimitClass;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  /** Session of this request; a key has none. */
  readonly sessionId?: string;
  /** The role of the credential when it was last read. */
  role: Role;

  readonly #credential: VerifiedCredential;
  readonly #readRole: ReadRole;
  readonly #isStillValid: () => Promise<boolean>;

  constructor(
    credential: VerifiedCredential,
    readonly requiredRole: Role | undefined,
    readRole: ReadRole,
    isStillValid: () => Promise<boolean>,
  ) {
    this.kind = credential.kind;
    this.id = credential.id;
    this.name = credential.name;
    this.role = credential.role;
    if (credential.kind === 'user') {
      this.person = credential.name;
      this.personId = credential.id;
      this.sessionId = credential.sessionId;
    } else {
      this.person = credential.person;
      this.personId = credential.personId;
      this.limitClass = credential.limitClass;
      this.limits = credential.limits;
    }
    this.#credential = credential;
    this.#readRole = readRole;
    this.#isStillValid = isStillValid;
  }

  async requireStillValid(): Promise<void> {
    if (!(await this.#isStillValid())) throw new UnauthorizedError();
  }

  async begin(tx: Tx): Promise<void> {
    const role = await this.#readRole(tx, this.#credential);
    if (!role) throw new UnauthorizedError();
    this.role = role;
    if (this.requiredRole) requireRole(this, this.requiredRole);
  }
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
