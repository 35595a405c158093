import { prefersAsync } from './handler-options.js';

describe('the header Prefer', () => {
  it.each([
    ['respond-async'],
    ['Respond-Async'],
    ['respond-async, wait=10'],
    ['return=minimal,respond-async'],
    [' respond-async ; foo=bar'],
  ])('requests a response before the work is done if it is %j', (header) => {
    expect(prefersAsync({ headers: { prefer: header } })).toBe(true);
  });

  it.each([
    [undefined],
    [''],
    ['wait=10'],
    ['respond-asynchronously'],
    ['x=respond-async'],
    [',;='],
  ])('requests nothing if it is %j', (header) => {
    expect(prefersAsync({ headers: { prefer: header } })).toBe(false);
  });
});
