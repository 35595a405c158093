/**
 * Numbers of the advisory locks that the service takes, one per purpose. A number never changes: during an update,
 * replicas of the old and the new release must mean the same lock.
 *
 * Two kinds of lock have no number here. An Idempotency-Key is locked by 64 bits of its hash (see `lockOf`), which
 * collide with these numbers with a probability of about 2^-61. The comparison of two database addresses locks a random
 * pair of integers (see `requireSameDatabase`); PostgreSQL keeps pairs separate from single numbers.
 */
export enum AdvisoryLock {
  /** Held during a schema change: a migration or a restore. */
  Migration = 7_203_441,
  /** One replica at a time creates the first administrator. */
  Bootstrap = 7_203_442,
  /** One replica at a time grants rights to the role of the service. */
  Grants = 7_203_443,
  /** Shared by claims of actions, exclusive for changes of the kill switch. */
  KillSwitch = 4_157_201,
  /** One playbook at a time is created, so that the maximum number holds. */
  PlaybookCount = 4_157_206,
  /** One notification channel at a time is created, so that the maximum number holds. */
  NotificationChannelCount = 4_157_211,
  /** First number of a pair. The second is the hash of a webhook source, whose failures are notified once in a quiet period. */
  WebhookFailures = 4_157_212,
}
