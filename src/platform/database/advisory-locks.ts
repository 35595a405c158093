/**
 * A key never changes: during an update, replicas of the old and the new release must use the same lock.
 * An Idempotency-Key is locked by 64 bits of its hash, which equal one of these keys with a probability of about 2^-61.
 */
export enum AdvisoryLock {
  /** Lock that a migration or a restore holds. */
  Migration = 7_203_441,
  Bootstrap = 7_203_442,
  /** Claims of actions share this lock. A change of the kill switch takes it exclusively. */
  KillSwitch = 4_157_201,
}
