/** The time as a dependency, so that a test can set it. Stored and shown times are in milliseconds. */
export class Clock {
  now(): Date {
    return new Date();
  }
}
