import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { readVerdict, VERDICT_SCHEMA } from './prompt.js';

const read = (answer: unknown) => readVerdict(JSON.stringify(answer));

const ANSWER = {
  classification: 'malicious',
  confidence: 0.9,
  category: 'bec',
  reasoning: 'A look-alike domain asks for money.',
  indicators: [{ type: 'domain', value: 'examp1e.com' }],
  mitre_techniques: ['T1566.002'],
  evidence: [
    { source: 'raw_data', pointer: '/sender', value: 'ceo@examp1e.com' },
    { source: 't1', pointer: '/count', value: 3 },
    { source: 't1', pointer: '/blocked', value: false },
  ],
  recommended_actions: ['block_sender'],
};

/** Keywords that structured output rejects or does not enforce. */
const UNKNOWN_THERE = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'maxItems',
  'oneOf',
];

describe('VERDICT_SCHEMA', () => {
  it('has only keywords of structured output, and every object requires its fields and allows no others', () => {
    const visit = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return;
      for (const keyword of UNKNOWN_THERE) expect(schema).not.toHaveProperty(keyword);
      const { type, properties, required, additionalProperties } = schema as Record<
        string,
        unknown
      >;
      if (type === 'object') {
        expect(additionalProperties).toBe(false);
        expect(required).toEqual(Object.keys(properties as object));
      }
      Object.values(schema).forEach(visit);
    };
    visit(VERDICT_SCHEMA);
  });

  it('accepts each action type', () => {
    expect(read({ ...ANSWER, recommended_actions: [...ACTION_TYPES] })).toBeDefined();
  });
});

describe('readVerdict', () => {
  it('returns an answer that matches the schema', () => {
    expect(read(ANSWER)).toEqual(ANSWER);
  });

  it.each(Object.keys(ANSWER))('rejects an answer without %s', (field) => {
    expect(read({ ...ANSWER, [field]: undefined })).toBeUndefined();
    const others = Object.entries(ANSWER).filter(([name]) => name !== field);
    expect(read(Object.fromEntries(others))).toBeUndefined();
  });

  it('returns an answer with unknown actions, which the verdict check removes', () => {
    const recommended = ['block_sender', 'rm_rf', '__proto__', '', '\0', 'block_sender'];
    const verdict = read({ ...ANSWER, recommended_actions: recommended });
    expect(verdict).toMatchObject({
      classification: 'malicious',
      recommended_actions: recommended,
    });
  });

  it.each<[string, unknown]>([
    ['a field more', { ...ANSWER, approve: true }],
    ['an unknown classification', { ...ANSWER, classification: 'safe' }],
    ['a confidence in words', { ...ANSWER, confidence: '0.9' }],
    ['an action with parameters', { ...ANSWER, recommended_actions: [{ name: 'block_ip' }] }],
    ['an action that is a number', { ...ANSWER, recommended_actions: [7] }],
    ['an unknown kind of indicator', { ...ANSWER, indicators: [{ type: 'x', value: 'y' }] }],
    [
      'evidence that is an object',
      { ...ANSWER, evidence: [{ source: 'a', pointer: '', value: {} }] },
    ],
    ['evidence that is null', { ...ANSWER, evidence: [{ source: 'a', pointer: '', value: null }] }],
    ['a list in place of the object', [ANSWER]],
    ['text', JSON.stringify(ANSWER)],
    ['null', null],
    ['nothing', undefined],
    ['a field of the prototype', JSON.parse(`{"__proto__":${JSON.stringify(ANSWER)}}`)],
  ])('rejects %s', (_, answer) => {
    expect(read(answer)).toBeUndefined();
  });
});
