import { noPersonAsked } from './triage-run.js';

describe('a run', () => {
  it.each([
    ['system', true],
    ['webhook:mail-gateway', true],
    ['alice', false],
    ['key:webhook', false],
  ])('that %s asked for was asked for by no person: %s', (requestedBy, expected) => {
    expect(noPersonAsked({ requestedBy })).toBe(expected);
  });
});
