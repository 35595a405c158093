import type { Caller } from '../platform/http/caller.js';
import type { Role } from '../platform/access/roles.js';

export interface Principal extends Caller {
  readonly kind: 'key' | 'user';
  readonly id: string;
  /** What the handler of the request asks for; undefined where every role will do. */
  readonly requiredRole: Role | undefined;
  /**
   * The name of the user behind it. Behind a key this is the user who made it, also when it was made with another key
   * of that user. A key that no user made stands for itself.
   */
  readonly person: string;
  /** The id of that user; undefined for a key that no user made. */
  readonly personId?: string;
  /** The session of a user who came with a cookie; a key has none. */
  readonly sessionId?: string;
}
