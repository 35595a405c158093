/** The places of a run at which a crash leaves something different behind. The numbers are those of no other failpoint. */
export const RUN_FAILPOINT = {
  /** The run is created, or claimed from the queue, and nothing is done. */
  claimed: 101,
  /** It is decided what comes next, and nothing is written. */
  decided: 102,
  /** The step has its action, which nobody has begun unless it was claimed with that. */
  begun: 103,
  /** The action has ended, or takes long, and the run does not know. */
  acted: 104,
  /** The run was saved as resting or ended, and no caller has its answer yet. */
  left: 105,
} as const;
