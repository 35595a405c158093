/**
 * Keys of the advisory locks of the service, one per purpose. A key never changes: during an update, replicas of the old
 * and the new release must use the same lock.
 *
 * An Idempotency-Key is locked by 64 bits of its hash instead (see IdempotentRequest). Such a lock equals one of
 * these keys with a probability of about 2^-61.
 */
export enum AdvisoryLock {
  /** Held during a migration or a restore. */
  Migration = 7_203_441,
  /** Lets one replica at a time create the first administrator. */
  Bootstrap = 7_203_442,
  /** Shared by claims of actions, exclusive for changes of the kill switch. */
  KillSwitch = 4_157_201,
}
