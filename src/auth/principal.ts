import type { Caller } from '../platform/http/caller.js';
import type { Role } from '../platform/access/roles.js';

export interface Principal extends Caller {
  readonly kind: 'key' | 'user';
  readonly id: string;
  readonly role: Role;
  /** The user behind it: of a key the one who made it, through however many keys. A key that is nobody's stands for itself. */
  readonly person: string;
  /** The id of that user; a key that is nobody's has none. */
  readonly personId?: string;
  /** The session of a user who came with a cookie; a key has none. */
  readonly sessionId?: string;
}
