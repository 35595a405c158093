import { Ajv } from 'ajv';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { CLASSIFICATIONS, type Evidence, type Indicator } from '../../incidents/incident.js';
import { INDICATOR_TYPES } from '../evidence/indicator.js';
import type { ProposedVerdict } from '../model/triage-model.port.js';

const TEXT = { type: 'string' } as const;

const object = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const list = (items: object) => ({ type: 'array', items });

const VERDICT_PROPERTIES = {
  classification: { type: 'string', enum: [...CLASSIFICATIONS] },
  confidence: { type: 'number', description: 'Between 0 and 1.' },
  category: { ...TEXT, description: 'One word of small letters, digits and underscores.' },
  reasoning: { ...TEXT, description: 'A few plain sentences, at most 4000 characters.' },
  indicators: list(object({ type: { type: 'string', enum: [...INDICATOR_TYPES] }, value: TEXT })),
  mitre_techniques: list({ ...TEXT, description: 'An id such as T1566.001.' }),
  evidence: list(
    object({
      source: { ...TEXT, description: 'raw_data, fields, or the id of a look-up.' },
      pointer: { ...TEXT, description: 'A JSON pointer, exactly as it is shown.' },
      value: {
        anyOf: [TEXT, { type: 'number' }, { type: 'boolean' }],
        description: 'What is shown there, exactly.',
      },
    }),
  ),
  recommended_actions: list({ type: 'string', enum: [...ACTION_TYPES] }),
};

/**
 * What a model is asked for. Structured output does not know limits of numbers, lengths and patterns, so there are none in it:
 * the rules of evidence see to them.
 */
export const VERDICT_SCHEMA: Readonly<Record<string, unknown>> = object(VERDICT_PROPERTIES);

interface Answer {
  readonly classification: ProposedVerdict['classification'];
  readonly confidence: number;
  readonly category: string;
  readonly reasoning: string;
  readonly indicators: readonly Indicator[];
  readonly mitre_techniques: readonly string[];
  readonly evidence: readonly Evidence[];
  readonly recommended_actions: readonly string[];
}

/** What is read: an action that there is not is cut later, and spoils no verdict. */
const READ_SCHEMA = {
  ...VERDICT_SCHEMA,
  properties: { ...VERDICT_PROPERTIES, recommended_actions: list(TEXT) },
};

/** `ownProperties`: a field that is called like a part of the prototype is a field. */
const isAnswer = new Ajv({ ownProperties: true }).compile<Answer>(READ_SCHEMA);

/** The verdict of an answer that has the shape of one; undefined for every other. */
export function readVerdict(json: unknown): ProposedVerdict | undefined {
  if (!isAnswer(json)) return undefined;
  const { mitre_techniques, recommended_actions, ...rest } = json;
  return { ...rest, mitreTechniques: mitre_techniques, recommendedActions: recommended_actions };
}
