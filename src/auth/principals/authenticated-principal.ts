import { type Role, roleReaches } from '../../platform/access/roles.js';
import type { LimitClass } from '../../platform/http/caller.js';
import type { Tx } from '../../platform/database/transactions.js';
import { RoleTooLowError, UnauthorizedError } from '../auth.errors.js';
import { type Principal } from '../principal.js';
import type { VerifiedCredential } from './verified-credential.js';

/** Reads again, in the transaction, which role the credential gives; undefined when it gives none any more. */
export type ReadRole = (tx: Tx, verified: VerifiedCredential) => Promise<Role | undefined>;

/** The principal of one request. What it was let in for rests on a read that is up to a second old, its writes do not. */
export class AuthenticatedPrincipal implements Principal {
  readonly kind: 'key' | 'user';
  readonly id: string;
  readonly name: string;
  readonly person: string;
  readonly personId?: string;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  /** Of the request's session; a key has none. */
  readonly sessionId?: string;
  /** Once a transaction has begun, the one that it saw. */
  role: Role;

  readonly #verified: VerifiedCredential;
  readonly #required: Role | undefined;
  readonly #readRole: ReadRole;

  constructor(verified: VerifiedCredential, required: Role | undefined, readRole: ReadRole) {
    this.kind = verified.kind;
    this.id = verified.id;
    this.name = verified.name;
    this.role = verified.role;
    if (verified.kind === 'user') {
      this.person = verified.name;
      this.personId = verified.id;
      this.sessionId = verified.sessionId;
    } else {
      this.person = verified.person;
      if (verified.personId !== undefined) this.personId = verified.personId;
      if (verified.limits) this.limits = verified.limits;
    }
    this.#verified = verified;
    this.#required = required;
    this.#readRole = readRole;
  }

  async begin(tx: Tx): Promise<void> {
    const role = await this.#readRole(tx, this.#verified);
    if (!role) throw new UnauthorizedError();
    if (this.#required && !roleReaches(role, this.#required)) {
      throw new RoleTooLowError(this.#required);
    }
    this.role = role;
  }
}
