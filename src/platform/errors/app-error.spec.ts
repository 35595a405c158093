import { ValidationError } from './app-error.js';

const errors = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ field: `f${i}`, code: 'c', message: `f${i} is so.` }));

describe('ValidationError', () => {
  it.each([
    [0, 'The request is not valid.'],
    [1, 'f0 is so.'],
    [2, 'f0 is so. (and 1 more)'],
    [70_000, 'f0 is so. (and 69999 more)'],
  ])('summarises %d errors in one message and keeps at most 100', (count, message) => {
    const error = new ValidationError(errors(count));
    expect(error.message).toBe(message);
    expect(error.errors).toHaveLength(Math.min(count, 100));
    expect(error.extras.details).toEqual({ errors: error.errors });
  });

  it('truncates a long field name without splitting a character', () => {
    const name = '😀'.repeat(500_000);
    const [error] = ValidationError.of(`a${name}`, 'c', `a${name} is so.`).errors;
    expect(error?.field).toHaveLength(500);
    expect(error?.message).toHaveLength(1_000);
    expect(`${error?.field}${error?.message}`.isWellFormed()).toBe(true);
  });
});
