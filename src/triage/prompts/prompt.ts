import { Ajv } from 'ajv';
import { createHash } from 'node:crypto';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { CLASSIFICATIONS } from '../../incidents/incident.js';
import { INDICATOR_TYPES } from '../evidence/indicators.js';
import { type RawValue, rawValues } from '../evidence/raw-values.js';
import { LONGEST_SHOWN, plainJson, visibleText } from '../evidence/visible-text.js';
import {
  type ProposedVerdict,
  QUESTION_SCHEMA,
  type TriageCase,
  type TriageTool,
} from '../model/triage-model.port.js';
import { upTo } from '../records/stored-json.js';
import { GUIDANCE_BY_TYPE, guidanceFor, SYSTEM_PROMPT, WORDS } from './prompt-texts.js';

export interface Prompt {
  /** Equal for all incidents of a type, so that the provider can cache it. Has no text from outside. */
  readonly system: string;
  readonly user: string;
  /** SHA-256 in hex of everything beside the incident: our texts, the tools, and the guidance of a playbook. */
  readonly prompt_hash: string;
}

export interface PromptOptions {
  /** A random word for each question, so that text of attackers cannot contain it. */
  readonly nonce: string;
  readonly tools: readonly Pick<TriageTool, 'name' | 'description'>[];
}

const NONCE = /^[A-Za-z0-9]{16,64}$/;

/** Text from outside only stands in the turn of the user, between marks with the nonce. */
export function promptFor(given: TriageCase, { nonce, tools }: PromptOptions): Prompt {
  const toolNames = tools.map(({ name }) => name);
  const json = shownEvidence(given);
  const guidance = given.guidance?.trim() ?? '';
  const inside = [json, guidance, given.incident_number, ...toolNames];
  if (!NONCE.test(nonce) || inside.some((text) => text.includes(nonce))) {
    throw new Error('The nonce must be random and must not occur in the shown text.');
  }
  const fenced = (name: string, content: string) =>
    `<${name}-${nonce}>\n${content}\n</${name}-${nonce}>`;
  const user = [
    `Incident ${given.incident_number}, reported at ${given.created_at.toISOString()}.`,
    ...(guidance === '' ? [] : [WORDS.guidance, fenced('guidance', visibleText(guidance))]),
    toolNames.length === 0 ? WORDS.noTools : `${WORDS.tools} ${toolNames.join(', ')}.`,
    WORDS.evidence,
    fenced('evidence', json),
    WORDS.end,
  ].join('\n\n');
  const system = `${SYSTEM_PROMPT}\n\n${guidanceFor(given.incident_type)}`;
  return { system, user, prompt_hash: hashOf(guidance, tools) };
}

/** Equal for incidents of all types, so that their verdicts are comparable. */
function hashOf(guidance: string, tools: PromptOptions['tools']): string {
  const offered = tools.map(({ name, description }) => [name, description, QUESTION_SCHEMA]);
  const told = [SYSTEM_PROMPT, GUIDANCE_BY_TYPE, WORDS, VERDICT_SCHEMA, guidance, offered];
  return createHash('sha256').update(JSON.stringify(told)).digest('hex');
}

const MOST_BYTES = 64 * 1024;
const MOST_INDICATOR_BYTES = 16 * 1024;
const LIMITS = { values: 5_000, items: 50, levels: 16 };
/** Maximum lengths of a text, tried in order until all values fit. Values are left out only after the last. */
const LENGTHS = [LONGEST_SHOWN, 1_024, 256, 64];
const MOST_POINTERS = 3;
const MOST_NAMED_CUTS = 50;

/** Lists raw data by JSON pointer, so that a model can copy a pointer, and a cut moves no other value. */
function shownEvidence(given: TriageCase): string {
  const { values, cut } = rawValues(given.rawData, LIMITS);
  const shown = withinBudget(values);
  const lines = given.indicators.map(({ id, type, value, pointers }) =>
    plainJson({ id, type, value, pointers: pointers.slice(0, MOST_POINTERS) }),
  );
  const indicators = upTo(MOST_INDICATOR_BYTES, lines);
  const notShown = [...new Set([...cut, ...shown.cut])];
  const parts = [
    `"incident_type": ${encoded(given.incident_type)}`,
    `"severity": ${encoded(given.severity)}`,
    `"reported_by": ${encoded(given.source)}`,
    `"title": ${encoded(given.title)}`,
    `"fields": ${block('{', withinBudget(rawValues(given.fields, LIMITS).values).lines, '}')}`,
    `"raw_data": ${block('{', shown.lines, '}')}`,
    `"indicators": ${block('[', indicators, ']')}`,
    `"not_shown": ${block('[', notShown.slice(0, MOST_NAMED_CUTS).map(plainJson), ']')}`,
    `"not_shown_in_all": ${notShown.length + lines.length - indicators.length}`,
  ];
  return `{\n${parts.join(',\n')}\n}`;
}

interface Lines {
  readonly lines: readonly string[];
  /** Pointers to values that are not shown completely. */
  readonly cut: readonly string[];
}

function withinBudget(values: readonly RawValue[]): Lines {
  for (const longest of LENGTHS) {
    const all = linesOf(values, longest);
    const kept = upTo(MOST_BYTES, all.lines);
    if (kept.length === all.lines.length) return all;
    if (longest !== LENGTHS.at(-1)) continue;
    const left = values.slice(kept.length).map(({ pointer }) => pointer);
    return { lines: kept, cut: [...all.cut, ...left] };
  }
  return { lines: [], cut: [] };
}

function linesOf(values: readonly RawValue[], longest: number): Lines {
  const cut: string[] = [];
  const lines = values.map(({ pointer, value }) => {
    if (typeof value !== 'string') return `${plainJson(pointer)}: ${value}`;
    const text = visibleText(startOf(value, longest));
    const isCut = value.length > longest || text.length > longest;
    if (isCut) cut.push(pointer);
    const rest = isCut ? ` ⟦cut: ${value.length} characters in all⟧` : '';
    return `${plainJson(pointer)}: ${plainJson(startOf(text, longest) + rest)}`;
  });
  return { lines, cut };
}

/** Half of a surrogate pair would look like a hidden character. */
function startOf(text: string, length: number): string {
  const isHalf = text.length > length && /[\ud800-\udbff]/.test(text[length - 1]!);
  return text.slice(0, isHalf ? length - 1 : length);
}

function block(open: string, lines: readonly string[], close: string): string {
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${close}`;
}

function encoded(text: string): string {
  return plainJson(visibleText(text));
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

/** Structured output has no limits of numbers, lengths and patterns. The verdict check has them. */
export const VERDICT_SCHEMA: Readonly<Record<string, unknown>> = object(VERDICT_PROPERTIES);

/** Accepts unknown actions, which the verdict check drops. `ownProperties`: no name of the prototype is a field. */
const isVerdict = new Ajv({ ownProperties: true }).compile<ProposedVerdict>(
  object({ ...VERDICT_PROPERTIES, recommended_actions: list(TEXT) }),
);

/** Undefined if the answer does not match the schema. */
export function readVerdict(answer: string | undefined): ProposedVerdict | undefined {
  try {
    const verdict: unknown = JSON.parse(answer ?? '');
    return isVerdict(verdict) ? verdict : undefined;
  } catch {
    return undefined;
  }
}
