import { noPersonAsked } from './triage-run.js';

describe('noPersonAsked', () => {
  it.each([
    ['system', true],
    ['webhook:mail-gateway', true],
    ['alice', false],
    ['key:webhook', false],
  ])('for a run requested by %s returns %s', (requested_by, expected) => {
    expect(noPersonAsked({ requested_by })).toBe(expected);
  });
});
