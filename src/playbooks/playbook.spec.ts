import {
  changedFields,
  DEFAULT_DEFINITION,
  definitionAfter,
  isForManagers,
  isTriggeredBy,
  onlyStops,
  type PlaybookDefinition,
} from './playbook.js';
import { PLAYBOOK_NAME } from './playbook.dto.js';

const content = (change: Partial<PlaybookDefinition>, name = 'one') => ({
  name,
  definition: definitionAfter(DEFAULT_DEFINITION, change),
});

describe('definitionAfter', () => {
  it('keeps fields that the change does not name, and removes fields whose new text is empty', () => {
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

  it('returns a definition that stays the same in JSON', () => {
    const definition = content({ variables: { a: null }, steps: [] }).definition;
    expect(JSON.parse(JSON.stringify(definition))).toStrictEqual(definition);
  });
});

describe('changedFields', () => {
  it('returns the names of changed fields and ignores the order of keys', () => {
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
    ['a new playbook without trust', [undefined, content({})], false],
    ['a new playbook with trust', [undefined, trusted], true],
    ['added trust', [content({}), content({ trust_verdict: true })], true],
    ['removed trust', [trusted, content({ steps: [] })], false],
    ['no change', [trusted, trusted], false],
    ['enabled', [trusted, content({ trust_verdict: true, enabled: true })], true],
    ['disabled', [content({ trust_verdict: true }), trusted], false],
    [
      'disabled with another change',
      [content({ trust_verdict: true }), content({ ...trusted.definition, variables: { a: 1 } })],
      true,
    ],
  ])('returns whether only a manager may make the change: %s', (_, [before, after], expected) => {
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
  ])('returns for the change %j: %s', (change, expected) => {
    expect(onlyStops(before, content({ ...before.definition, ...change }))).toBe(expected);
  });

  it('returns false if the change enables or renames the playbook', () => {
    const stopped = content({ enabled: false });
    expect(onlyStops(stopped, content({}))).toBe(false);
    expect(onlyStops(stopped, content({ enabled: false }, 'two'))).toBe(false);
  });
});

describe('isTriggeredBy', () => {
  const incident = { incident_type: 'phishing', severity: 'high', source: 'gw' } as const;
  const none = DEFAULT_DEFINITION.triggers;

  it('accepts every value if a list is empty, and only listed values otherwise', () => {
    expect(isTriggeredBy(none, incident)).toBe(true);
    expect(isTriggeredBy({ ...none, incident_types: ['spam', 'phishing'] }, incident)).toBe(true);
    expect(isTriggeredBy({ ...none, incident_types: ['spam'] }, incident)).toBe(false);
    expect(isTriggeredBy({ ...none, severities: ['critical'] }, incident)).toBe(false);
    expect(isTriggeredBy({ ...none, sources: ['GW'] }, incident)).toBe(false);
  });
});

describe('PLAYBOOK_NAME', () => {
  it.each(['phishing-response', '1'])('accepts %s', (text) => {
    expect(text).toMatch(PLAYBOOK_NAME);
  });

  it.each([
    ...['', 'Phishing', 'a_b', 'a\n', '\0', 'x'.repeat(64), '-a'],
    '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  ])('rejects %j', (text) => {
    expect(text).not.toMatch(PLAYBOOK_NAME);
  });
});
