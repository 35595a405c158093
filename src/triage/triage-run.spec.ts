import { isPerson } from '../actions/action.js';
import { stillAnswers, whyNotApplied } from './triage-run.js';

describe('isPerson', () => {
  it.each([
    ['system', false],
    ['webhook:mail-gateway', false],
    ['alice', true],
    ['key:webhook', true],
  ])('for the requester %s of a run returns %s', (requested_by, expected) => {
    expect(isPerson(requested_by)).toBe(expected);
  });
});

describe('whyNotApplied', () => {
  it.each([
    ['open', false, false, undefined],
    ['triaged', false, false, undefined],
    ['triaged', true, false, 'verdict_by_person'],
    ['triaged', true, true, undefined],
    ['resolved', false, false, 'incident_resolved'],
    ['resolved', true, false, 'verdict_by_person'],
    ['resolved', true, true, undefined],
  ] as const)(
    'for an incident that is %s (decided by a person: %s, force: %s) returns %s',
    (status, verdict_by_person, force, reason) => {
      expect(whyNotApplied({ status, verdict_by_person }, { force })).toBe(reason);
    },
  );
});

describe('stillAnswers', () => {
  it.each([
    ['triaged', undefined, true],
    ['open', undefined, true],
    ['triaged', 'verdict_by_person', true],
    ['resolved', 'incident_resolved', true],
    ['open', 'incident_resolved', false],
    ['triaged', 'incident_resolved', false],
  ] as const)(
    'for an incident that is %s and a run that was not applied because of %s returns %s',
    (status, not_applied, answers) => {
      expect(stillAnswers({ not_applied: not_applied ?? null }, status)).toBe(answers);
    },
  );
});
