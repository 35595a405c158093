import { existsSync, readFileSync } from 'node:fs';
import { type Accepted, type Change, problemsOf } from '../../scripts/contract/judgement.js';

const REMOVED: Change = {
  id: 'api-path-removed-without-deprecation',
  text: 'api removed without deprecation',
  level: 3,
  operation: 'GET',
  path: '/api/things',
};
const TOLD = `[${REMOVED.id}] GET /api/things: ${REMOVED.text}`;
const REASON = { reason: 'Nobody ever had it.' };
const accept = (more: Partial<Accepted> = {}): Accepted => ({
  change: REMOVED.id,
  ...REASON,
  ...more,
});

describe('the judgement of changes of the contract', () => {
  it('tells a change that breaks clients, once for all statuses that it concerns', () => {
    expect(problemsOf([REMOVED, { ...REMOVED }], [])).toEqual([`breaks clients: ${TOLD}`]);
  });

  it.each([1, 2])('is silent about what is only worth reading, of level %i', (level) => {
    expect(problemsOf([{ ...REMOVED, level }], [])).toEqual([]);
  });

  it.each<[string, Partial<Accepted>]>([
    ['the kind', {}],
    ['the place', { where: '^GET /api/things:' }],
    ['the words', { where: 'without deprecation$' }],
  ])('is silent when somebody accepted it by %s', (_what, more) => {
    expect(problemsOf([REMOVED], [accept(more)])).toEqual([]);
  });

  it.each<[string, Partial<Accepted>]>([
    ['of another kind', { change: 'api-removed' }],
    ['of a kind that only begins alike', { change: 'api-path-removed' }],
    ['at another place', { where: '^POST ' }],
    ['without a reason', { reason: ' ' }],
  ])('tells it, and what was accepted, when that is %s', (_what, more) => {
    const problems = problemsOf([REMOVED], [accept(more)]);
    expect(problems).toHaveLength(2);
    expect(problems[0]).toBe(`breaks clients: ${TOLD}`);
    expect(problems[1]).toMatch(/^accepted but not there: /);
  });

  it('tells what was accepted and is not there any more', () => {
    expect(problemsOf([], [accept({ where: '/api/things' })])).toEqual([
      `accepted but not there: [${REMOVED.id}] /api/things`,
    ]);
  });

  it('has a reason for everything that is accepted, and a baseline to compare with', () => {
    const accepted = JSON.parse(
      readFileSync('openapi/breaking-accepted.json', 'utf8'),
    ) as Accepted[];
    expect(accepted.filter(({ reason }) => reason.length < 15)).toEqual([]);
    expect(existsSync('openapi/baseline.json')).toBe(true);
  });
});
