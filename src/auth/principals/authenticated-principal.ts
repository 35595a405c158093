import type { Role } from '../../platform/access/roles.js';
import type { LimitClass } from '../../platform/http/caller.js';
import type { Tx } from '../../platform/database/transactions.js';
import { UnauthorizedError } from '../auth.errors.js';
import { requireRole } from '../authorisation.js';
import { type Principal } from '../principal.js';
import type { VerifiedCredential } from './verified-credential.js';

/** Reads again, in the transaction, which role the credential gives; undefined when it is not valid any more. */
export type ReadRole = (tx: Tx, credential: VerifiedCredential) => Promise<Role | undefined>;

/**
 * The principal of one request. The guards let it in by a read of its credential that is up to a second old; each
 * transaction that writes for it reads the credential again.
 */
export class AuthenticatedPrincipal implements Principal {
  readonly kind: 'key' | 'user';
  readonly id: string;
  readonly name: string;
  readonly person: string;
  readonly personId?: string;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  /** The session of this request; a key has none. */
  readonly sessionId?: string;
  /** From the first transaction on, the role that the transaction read. */
  role: Role;

  readonly #credential: VerifiedCredential;
  readonly #readRole: ReadRole;

  constructor(
    credential: VerifiedCredential,
    readonly requiredRole: Role | undefined,
    readRole: ReadRole,
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
      this.limits = credential.limits;
    }
    this.#credential = credential;
    this.#readRole = readRole;
  }

  async begin(tx: Tx): Promise<void> {
    const role = await this.#readRole(tx, this.#credential);
    if (!role) throw new UnauthorizedError();
    this.role = role;
    if (this.requiredRole) requireRole(this, this.requiredRole);
  }
}
