import { createHash } from 'node:crypto';
import { shownStart } from '../../platform/text.js';
import { visibleText } from '../evidence/visible-text.js';
import type { TriageCase, TriageTool } from '../model/triage-model.port.js';
import { GUIDANCE_BY_TYPE, guidanceFor, SYSTEM_PROMPT, WORDS } from './prompt-texts.js';
import { shownEvidence } from './shown-evidence.js';
import { VERDICT_SCHEMA } from './verdict-schema.js';

export { readVerdict, VERDICT_SCHEMA } from './verdict-schema.js';

export interface Prompt {
  /** Ours alone: the same for every incident of a type, so that a provider can keep it ready. */
  readonly system: string;
  readonly user: string;
  /** SHA-256 in hex of all that the model is told beside the incident: our wordings, the tools, and a playbook's guidance. */
  readonly hash: string;
  /** JSON pointers to what of the raw data is not shown, or not whole. */
  readonly cut: readonly string[];
}

export interface PromptOptions {
  /** A random word, made anew for each question: what attackers wrote cannot contain it. */
  readonly nonce: string;
  readonly tools: readonly Pick<TriageTool, 'name' | 'description' | 'inputSchema'>[];
}

const NONCE = /^[A-Za-z0-9]{16,64}$/;
const LONGEST_GUIDANCE = 8_000;

/** The question to a model. What comes from outside is only ever in the user's turn, between marks that nobody could foresee. */
export function promptFor(given: TriageCase, { nonce, tools }: PromptOptions): Prompt {
  const toolNames = tools.map(({ name }) => name);
  const { json, cut } = shownEvidence(given);
  const guidance = given.guidance?.trim() ?? '';
  const inside = [json, guidance, given.incidentNumber, ...toolNames];
  if (!NONCE.test(nonce) || inside.some((text) => text.includes(nonce))) {
    throw new Error(
      'The nonce of a prompt must be random, and occur in nothing that the prompt shows.',
    );
  }
  const user = [
    `Incident ${given.incidentNumber}, reported at ${given.createdAt.toISOString()}.`,
    ...(guidance === '' ? [] : [WORDS.guidance, fenced('guidance', nonce, cutGuidance(guidance))]),
    toolNames.length === 0 ? WORDS.noTools : `${WORDS.tools} ${toolNames.join(', ')}.`,
    WORDS.evidence,
    fenced('evidence', nonce, json),
    WORDS.end,
  ].join('\n\n');
  const system = `${SYSTEM_PROMPT}\n\n${guidanceFor(given.incidentType)}`;
  return { system, user, hash: hashOf(guidance, tools), cut };
}

function fenced(name: string, nonce: string, content: string): string {
  return `<${name}-${nonce}>\n${content}\n</${name}-${nonce}>`;
}

function cutGuidance(text: string): string {
  const shown = visibleText(shownStart(text, LONGEST_GUIDANCE));
  return text.length > LONGEST_GUIDANCE ? `${shown}\n${WORDS.guidanceCut}` : shown;
}

const OURS = [SYSTEM_PROMPT, GUIDANCE_BY_TYPE, WORDS, VERDICT_SCHEMA];

/** The same for incidents of all types, so that their verdicts can be compared. */
function hashOf(guidance: string, tools: PromptOptions['tools']): string {
  const offered = tools.map(({ name, description, inputSchema }) => [
    name,
    description,
    inputSchema,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([OURS, guidance, offered]))
    .digest('hex');
}
