import { forgottenBefore } from './inbox-processing.js';

const NOW = new Date('2026-11-22T10:00:00.000Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000);

describe('forgottenBefore', () => {
  it.each([
    ['a minute ago in a process that has just started', 0, 60],
    ['a minute ago until the process runs for a minute', 59, 60],
    ['the start of the process in its first ten minutes', 300, 300],
    ['ten minutes ago in a process that runs for long', 86_400, 600],
  ])('is %s', (_, runsFor, expected) => {
    expect(forgottenBefore(NOW, ago(runsFor))).toEqual(ago(expected));
  });
});
