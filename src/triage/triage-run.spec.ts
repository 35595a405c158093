import { noPersonAsked } from './triage-run.js';

describe('a run', () => {
  it.each([
    ['system', true],
    ['webhook:mail-gateway', true],
    ['alice', false],
    ['key:webhook', false],
  ])('that %s asked for was asked for by no person: %s', (requested_by, expected) => {
    expect(noPersonAsked({ requested_by })).toBe(expected);
  });
});
