import { parsePointer } from '../../platform/json-pointer.js';
import { resolve } from './places.js';

const at = (value: Parameters<typeof resolve>[0], pointer: string) =>
  resolve(value, parsePointer(pointer)!);

describe('A JSON pointer into an event', () => {
  it('leads to a value of the event', () => {
    expect(at({ a: [{ 'b/c': 1 }] }, '/a/0/b~1c')).toBe(1);
    expect(at({ a: 1 }, '/b')).toBeUndefined();
  });

  it('does not look into a number that is kept as its digits', () => {
    const exact = JSON.rawJSON('12345678901234567890');
    expect(at({ n: exact }, '/n')).toBe(exact);
    expect(at({ n: exact }, '/n/rawJSON')).toBeUndefined();
  });
});
