/** A session ends when it was not used for this long … */
export const IDLE_HOURS = 8;
/** … and this long after the login in any case. */
export const ABSOLUTE_HOURS = 24;
