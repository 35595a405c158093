/**
 * The advisory locks of PostgreSQL that the service takes by a fixed number, one number for each purpose. Two purposes
 * with the same number would wait for each other for no reason. A number never changes: during an update replicas of the
 * old and of the new release run side by side, and have to mean the same lock.
 *
 * Two more kinds of lock have no fixed number. An Idempotency-Key is locked by 64 bits of its hash (see `lockOf`), which
 * meet one of these few numbers with a chance of about one in 2^61. The comparison of two database addresses locks a
 * random pair of integers (see `requireSameDatabase`); PostgreSQL keeps pairs apart from single numbers.
 */
export enum AdvisoryLock {
  /** Held by whoever changes the schema: a migration or a restore. */
  Migration = 7_203_441,
  /** One replica at a time makes the first administrator. */
  Bootstrap = 7_203_442,
  /** One replica at a time grants rights to the role that the service runs as. */
  Grants = 7_203_443,
  /** One replica at a time adds up the counts of incidents. */
  IncidentCounts = 7_203_445,
  /** Shared by claims of actions, exclusive for a change of the kill switch. */
  KillSwitch = 4_157_201,
  /** One playbook at a time is made, so that there are never more than may be. */
  PlaybookCount = 4_157_206,
  /** One replica at a time adds up the counts of actions. */
  ActionCounts = 4_157_203,
  /** One replica at a time adds up the counts of webhook events. */
  WebhookEventCounts = 4_157_204,
  /** One replica at a time adds up the counts of playbook runs. */
  PlaybookRunCounts = 4_157_205,
  /** One replica at a time adds up the counts of notifications. */
  NotificationDeliveryCounts = 4_157_210,
  /** One notification channel at a time is made, so that there are never more than may be. */
  NotificationChannelCount = 4_157_211,
}
