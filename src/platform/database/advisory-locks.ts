/**
 * Numbers of the advisory locks that the service takes, one per purpose. A number never changes: during an update,
 * replicas of the old and the new release must mean the same lock.
 *
 * One kind of lock has no number here: an Idempotency-Key is locked by 64 bits of its hash (see `lockOf`), which collide
 * with these numbers with a probability of about 2^-61.
 */
export enum AdvisoryLock {
  /** Held during a schema change: a migration or a restore. */
  Migration = 7_203_441,
  /** One replica at a time creates the first administrator. */
  Bootstrap = 7_203_442,
  /** Shared by claims of actions, exclusive for changes of the kill switch. */
  KillSwitch = 4_157_201,
}
