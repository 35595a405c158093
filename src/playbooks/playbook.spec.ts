import {
  changedFields,
  DEFAULT_DEFINITION,
  definitionAfter,
  isForManagers,
  isTriggeredBy,
  onlyStops,
  type PlaybookDefinition,
} from './playbook.js';
import { PLAYBOOK_NAME } from './limits.js';

const content = (change: Partial<PlaybookDefinition>, name = 'one') => ({
  name,
  definition: definitionAfter(DEFAULT_DEFINITION, change),
});

describe('definitionAfter', () => {
  it('keeps what is left out, and takes an empty text for none', () => {
    const before = content({ description: 'D', instructions: 'I', auto_run: true }).definition;
    expect(definitionAfter(before, {})).toStrictEqual(before);
    const without = content({ instructions: 'I', auto_run: true }).definition;
    expect(definitionAfter(before, { description: '' })).toStrictEqual(without);
    expect(definitionAfter(before, { enabled: false, auto_run: false })).toStrictEqual({
      ...before,
      enabled: false,
      auto_run: false,
    });
  });

  it('gives what JSON gives back as it was', () => {
    const definition = content({ variables: { a: null }, steps: [] }).definition;
    expect(JSON.parse(JSON.stringify(definition))).toStrictEqual(definition);
  });
});

describe('changedFields', () => {
  it('names what differs, whatever the order of keys', () => {
    const before = content({ description: 'D', variables: { a: 1, b: 2 } });
    expect(changedFields(before, content({ description: 'D', variables: { b: 2, a: 1 } }))).toEqual(
      [],
    );
    const fields = changedFields(before, content({ variables: { a: 1 } }, 'two'));
    expect(fields.toSorted()).toEqual(['description', 'name', 'variables']);
  });
});

describe('isForManagers', () => {
  const trusted = content({ trust_verdict: true, enabled: false });

  it.each<[string, Parameters<typeof isForManagers>, boolean]>([
    ['a new one without trust', [undefined, content({})], false],
    ['a new one with trust', [undefined, trusted], true],
    ['trust that is given', [content({}), content({ trust_verdict: true })], true],
    ['trust that is taken', [trusted, content({ steps: [] })], false],
    ['nothing', [trusted, trusted], false],
    ['a start', [trusted, content({ trust_verdict: true, enabled: true })], true],
    ['a stop', [content({ trust_verdict: true }), trusted], false],
    [
      'a stop with something else',
      [content({ trust_verdict: true }), content({ ...trusted.definition, variables: { a: 1 } })],
      true,
    ],
  ])('says who decides on %s', (_, [before, after], expected) => {
    expect(isForManagers(before, after)).toBe(expected);
  });
});

describe('onlyStops', () => {
  const before = content({ trust_verdict: true, auto_run: true });

  it.each<[Partial<PlaybookDefinition>, boolean]>([
    [{ enabled: false }, true],
    [{ auto_run: false, trust_verdict: false, description: 'D' }, true],
    [{ enabled: false, steps: [], variables: { a: 1 } }, false],
    [{ instructions: 'I' }, false],
  ])('says of %j: %s', (change, expected) => {
    expect(onlyStops(before, content({ ...before.definition, ...change }))).toBe(expected);
  });

  it('is false for enabling, and for a new name', () => {
    const stopped = content({ enabled: false });
    expect(onlyStops(stopped, content({}))).toBe(false);
    expect(onlyStops(stopped, content({ enabled: false }, 'two'))).toBe(false);
  });
});

describe('isTriggeredBy', () => {
  const incident = { incident_type: 'phishing', severity: 'high', source: 'gw' } as const;
  const none = DEFAULT_DEFINITION.triggers;

  it('takes any where a list is empty, and only what it names elsewhere', () => {
    expect(isTriggeredBy(none, incident)).toBe(true);
    expect(isTriggeredBy({ ...none, incident_types: ['spam', 'phishing'] }, incident)).toBe(true);
    expect(isTriggeredBy({ ...none, incident_types: ['spam'] }, incident)).toBe(false);
    expect(isTriggeredBy({ ...none, severities: ['critical'] }, incident)).toBe(false);
    expect(isTriggeredBy({ ...none, sources: ['GW'] }, incident)).toBe(false);
  });
});

describe('PLAYBOOK_NAME', () => {
  it.each(['phishing-response', '1'])('takes %s', (text) => {
    expect(text).toMatch(PLAYBOOK_NAME);
  });

  it.each([
    ...['', 'Phishing', 'a_b', 'a\n', '\0', 'x'.repeat(64), '-a'],
    '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  ])('refuses %j', (text) => {
    expect(text).not.toMatch(PLAYBOOK_NAME);
  });
});
