import { isList } from './json.js';

describe('isList', () => {
  it('knows a list from an object', () => {
    expect([isList([]), isList({}), isList(undefined)]).toEqual([true, false, false]);
  });
});
