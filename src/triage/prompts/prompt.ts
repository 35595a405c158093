import { Ajv } from 'ajv';
import { createHash } from 'node:crypto';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { CLASSIFICATIONS } from '../../incidents/incident.js';
import { shownStart } from '../../platform/text.js';
import { INDICATOR_TYPES } from '../evidence/indicators.js';
import { type RawValue, rawValues } from '../evidence/raw-values.js';
import { upTo } from '../evidence/verdict-check.js';
import { LONGEST_SHOWN, plainJson, visibleText } from '../evidence/visible-text.js';
import {
  type ProposedVerdict,
  QUESTION_SCHEMA,
  type TriageCase,
  type TriageTool,
} from '../model/triage-model.port.js';
import { GUIDANCE_BY_TYPE, guidanceFor, SYSTEM_PROMPT, WORDS } from './prompt-texts.js';

export interface Prompt {
  /** The same for all incidents of a type, so that the provider can cache it. Contains no text from outside. */
  readonly system: string;
  readonly user: string;
  /** SHA-256 in hex of everything beside the incident: our texts, the tools, and the guidance of a playbook. */
  readonly prompt_hash: string;
}

export interface PromptOptions {
  /** A random word for each question, which text of attackers cannot contain. */
  readonly nonce: string;
  readonly tools: readonly Pick<TriageTool, 'name' | 'description'>[];
}

/** Puts text from outside only into the turn of the user, between marks with the nonce. */
export function promptFor(given: TriageCase, { nonce, tools }: PromptOptions): Prompt {
  const guidance = given.guidance?.trim() ?? '';
  const names = tools.map(({ name }) => name).join(', ');
  const fenced = (name: string, content: string) =>
    `<${name}-${nonce}>\n${content}\n</${name}-${nonce}>`;
  const user = [
    `Incident ${given.incident_number}, reported at ${given.created_at.toISOString()}.`,
    ...(guidance === '' ? [] : [WORDS.guidance, fenced('guidance', visibleText(guidance))]),
    names === '' ? WORDS.noTools : `${WORDS.tools} ${names}.`,
    WORDS.evidence,
    fenced('evidence', shownEvidence(given)),
    WORDS.end,
  ].join('\n\n');
  const system = `${SYSTEM_PROMPT}\n\n${guidanceFor(given.incident_type)}`;
  return { system, user, prompt_hash: hashOf(guidance, tools) };
}

/** Gives the same hash for incidents of all types, so that their verdicts are comparable. */
function hashOf(guidance: string, tools: PromptOptions['tools']): string {
  const offered = tools.map(({ name, description }) => [name, description, QUESTION_SCHEMA]);
  const told = [SYSTEM_PROMPT, GUIDANCE_BY_TYPE, WORDS, VERDICT_SCHEMA, guidance, offered];
  return createHash('sha256').update(JSON.stringify(told)).digest('hex');
}

const MOST_BYTES = 64 * 1024;
const MOST_INDICATOR_BYTES = 16 * 1024;
const LIMITS = { values: 5_000, items: 50, levels: 16 };
/** Maximum lengths of a text, tried in order until all values fit. Values are omitted only after the last length. */
const LENGTHS = [LONGEST_SHOWN, 1_024, 256, 64];
/** Begins the mark of a cut text. Texts cannot imitate it, because their brackets are marks, too. */
const CUT = '⟦cut: ';
const MOST_POINTERS = 3;
const MOST_NAMED_CUTS = 50;

/** Lists raw data by JSON pointer, so that a model can copy a pointer, and a cut moves no other value. */
function shownEvidence(given: TriageCase): string {
  const { values, cut } = rawValues(given.rawData, LIMITS);
  const rawData = shownValues(values);
  const indicators = given.indicators.map(({ pointers, ...one }) => {
    return { ...one, pointers: pointers.slice(0, MOST_POINTERS) };
  });
  const shownIndicators = upTo(MOST_INDICATOR_BYTES, indicators);
  const notShown = [...new Set([...cut, ...rawData.cut])];
  return plainJson({
    incident_type: visibleText(given.incident_type),
    severity: given.severity,
    reported_by: visibleText(given.source),
    title: visibleText(given.title),
    fields: shownValues(rawValues(given.fields, LIMITS).values).shown,
    raw_data: rawData.shown,
    indicators: shownIndicators,
    not_shown: notShown.slice(0, MOST_NAMED_CUTS),
    not_shown_in_all: notShown.length + indicators.length - shownIndicators.length,
  });
}

function shownValues(
  values: readonly RawValue[],
  [longest = 0, ...shorter] = LENGTHS,
): { readonly shown: object; readonly cut: readonly string[] } {
  const all = values.map(({ pointer, value }) => [pointer, shownValue(value, longest)] as const);
  const fitting = upTo(MOST_BYTES, all);
  if (fitting.length < all.length && shorter.length > 0) return shownValues(values, shorter);
  const isCut = ([, value]: (typeof all)[number]) => String(value).includes(CUT);
  const cut = all.filter((one, n) => n >= fitting.length || isCut(one));
  return { shown: Object.fromEntries(fitting), cut: cut.map(([pointer]) => pointer) };
}

function shownValue(value: RawValue['value'], longest: number): RawValue['value'] {
  if (typeof value !== 'string') return value;
  const isLong = value.length > longest;
  const visible = visibleText(isLong ? shownStart(value, longest) : value);
  // The cut may split a character, and marks for hidden characters make the text longer.
  const start = visible.slice(0, longest).toWellFormed();
  return isLong || start !== visible ? `${start} ${CUT}${value.length} characters in all⟧` : start;
}

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

/** Structured output cannot limit numbers, lengths and patterns. The verdict check limits them. */
export const VERDICT_SCHEMA: Readonly<Record<string, unknown>> = object(VERDICT_PROPERTIES);

/** Accepts unknown actions, which the verdict check removes. `ownProperties` ignores names of the prototype. */
const isVerdict = new Ajv({ ownProperties: true }).compile<ProposedVerdict>(
  object({ ...VERDICT_PROPERTIES, recommended_actions: list(TEXT) }),
);

export function readVerdict(answer: string | undefined): ProposedVerdict | undefined {
  try {
    const verdict: unknown = JSON.parse(answer ?? '');
    return isVerdict(verdict) ? verdict : undefined;
  } catch {
    return undefined;
  }
}
