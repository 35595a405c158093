import { prefersAsync } from './handler-options.js';

describe('the header Prefer', () => {
  it.each([
    ['respond-async'],
    ['Respond-Async'],
    ['respond-async, wait=10'],
    ['return=minimal,respond-async'],
    [' respond-async ; foo=bar'],
  ])('asks for an answer before the work is done when it is %j', (header) => {
    expect(prefersAsync({ headers: { prefer: header } })).toBe(true);
  });

  it.each([
    [undefined],
    [''],
    ['wait=10'],
    ['respond-asynchronously'],
    ['x=respond-async'],
    [',;='],
  ])('does not when it is %j', (header) => {
    expect(prefersAsync({ headers: { prefer: header } })).toBe(false);
  });
});
