import { ValidationError } from './app-error.js';

const errors = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ field: `f${i}`, code: 'c', message: `f${i} is so.` }));

describe('ValidationError', () => {
  it.each([
    [0, 'The request is not valid.'],
    [1, 'f0 is so.'],
    [2, 'f0 is so. (and 1 more)'],
    [70_000, 'f0 is so. (and 69999 more)'],
  ])('sums %d errors up in one message, and keeps a hundred of them', (count, message) => {
    const error = new ValidationError(errors(count));
    expect(error.message).toBe(message);
    expect(error.errors).toHaveLength(Math.min(count, 100));
    expect(error.extras.details).toEqual({ errors: error.errors });
  });

  it('repeats no megabyte of a name, and cuts no character in two', () => {
    const name = '😀'.repeat(500_000);
    const [error] = ValidationError.of(`a${name}`, 'c', `a${name} is so.`).errors;
    expect(error?.field).toHaveLength(500);
    expect(error?.message).toHaveLength(1_000);
    expect(`${error?.field}${error?.message}`.isWellFormed()).toBe(true);
  });
});
