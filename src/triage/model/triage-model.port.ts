import type { IncidentFields } from '../../incidents/incident-fields.js';
import type { Classification, Evidence, Indicator, Severity } from '../../incidents/incident.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';

export interface TokenUse {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
}

/** Who is asked, and in which words. */
export interface Asked {
  /** The model that answers, as the provider names it; before it has, the one that is configured. `rules` for the scorer. */
  readonly model: string;
  /** SHA-256 in hex of all that the model is told beside the incident, so that runs of different wordings can be told apart. */
  readonly promptHash: string;
}

export const NO_TOKENS: TokenUse = { input: 0, output: 0, cachedInput: 0 };

/** More than any model reads or writes at once: such a number is a mistake, and must not empty the hour's budget. */
const MOST_TOKENS = 10_000_000;

/**
 * What an answer says was used: of a message, and of an error where it says it. All input counts, also what was read from
 * the provider's cache or written to it; `cachedInput` is the part that was read from there.
 */
export function tokensOf(answer: unknown): TokenUse {
  const usage = fieldOf(answer, 'usage');
  const cachedInput = countIn(usage, 'cache_read_input_tokens');
  return {
    input:
      countIn(usage, 'input_tokens') + countIn(usage, 'cache_creation_input_tokens') + cachedInput,
    output: countIn(usage, 'output_tokens'),
    cachedInput,
  };
}

export function sumOfTokens(one: TokenUse, other: TokenUse): TokenUse {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cachedInput: (one.cachedInput ?? 0) + (other.cachedInput ?? 0),
  };
}

/** Adds up what one attempt uses, as the provider says it, and who was asked: also of an attempt that is ended in the middle. */
export class TokenMeter {
  /** Undefined when it ended before anybody was asked. */
  asked: Asked | undefined;
  private sum = NO_TOKENS;

  /** Undefined when nothing was used. */
  get used(): TokenUse | undefined {
    return this.sum.input + this.sum.output > 0 ? this.sum : undefined;
  }

  asks(asked: Asked): void {
    this.asked = asked;
  }

  add(tokens: TokenUse): void {
    this.sum = sumOfTokens(this.sum, tokens);
  }
}

function countIn(usage: unknown, name: string): number {
  const count = fieldOf(usage, name);
  const sound = typeof count === 'number' && Number.isInteger(count);
  return sound && count >= 0 && count <= MOST_TOKENS ? count : 0;
}

/** Undefined for whatever is no object or has no such field. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

export const UNAVAILABLE_REASONS = [
  'not_configured',
  'authentication',
  'unreachable',
  'timeout',
  'rate_limited',
  'overloaded',
  'provider_error',
  'refused',
  'truncated',
  'invalid_answer',
  'token_budget',
] as const;

/** Why there is no verdict, as `details.reason` of the answer and as the run says it. */
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** What a provider may ask for before it is asked again; a longer time is taken for a mistake. */
export const LONGEST_RETRY_AFTER_MS = 60 * 60_000;

/** There is no usable verdict. */
export class ModelUnavailableError extends Error {
  constructor(
    readonly reason: UnavailableReason,
    message: string,
    readonly extras: {
      /** Whether the same question may be answered later, so that a job tries again. */
      readonly mayHelpLater: boolean;
      /** Somebody has to mend a setting or an account first: asking again at once is in vain, and so is any other question. */
      readonly needsOperator?: boolean;
      readonly retryAfterMs?: number;
      /** What was used all the same. */
      readonly tokens?: TokenUse;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: extras.cause });
    this.name = new.target.name;
  }
}

/** A tool cannot answer a question, and the model and the readers of the run are told in these words why. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** What a model is given to judge. All of it but the guidance may have been written by an attacker. */
export interface TriageCase {
  readonly incidentId: string;
  readonly incidentNumber: string;
  readonly incidentType: string;
  readonly severity: Severity;
  readonly source: string;
  readonly title: string;
  readonly createdAt: Date;
  /** JSON.parse of the incident's raw_data. */
  readonly rawData: Readonly<Record<string, unknown>>;
  /** What the event says in well-known words. */
  readonly fields: IncidentFields;
  /** What code found in raw_data, each with an id by which a model may ask about it. */
  readonly indicators: readonly ExtractedIndicator[];
  /** Instructions of a playbook: written by people of this site, so they may guide. */
  readonly guidance?: string;
}

/** A verdict as a model gives it: of the right shape, and not checked against the evidence yet. */
export interface ProposedVerdict {
  readonly classification: Classification;
  readonly confidence: number;
  readonly category: string;
  readonly reasoning: string;
  readonly indicators: readonly Indicator[];
  readonly mitreTechniques: readonly string[];
  readonly evidence: readonly Evidence[];
  /** Names of action types; unknown ones are dropped later. */
  readonly recommendedActions: readonly string[];
}

/** One question that a model asked, with what it was answered: shown to people with the run. */
export interface ToolCall {
  /** By which evidence refers to the answer. */
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** JSON: what the model was shown. */
  readonly output: unknown;
  readonly failed?: boolean;
  readonly durationMs: number;
}

/** A rule that counted towards a verdict, and what it counted: only the scorer gives these. */
export interface ScoredPoint {
  readonly rule: string;
  readonly points: number;
  readonly pointer?: string;
  readonly explanation: string;
}

export interface Judgement extends Asked {
  readonly verdict: ProposedVerdict;
  readonly tokens: TokenUse;
  readonly toolCalls: readonly ToolCall[];
  readonly points?: readonly ScoredPoint[];
}

/** How many questions a model may ask for one verdict, and how large an answer is in JSON: all of them are 60 KiB at most. */
export const MOST_QUESTIONS = 6;
export const LONGEST_ANSWER_BYTES = 10 * 1024;

/** The questions that a model may ask. They only read, and take ids of indicators, never text. */
export interface TriageTool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The answer as JSON, cut to its size. Throws ToolError when it takes too long, or the input is wrong. */
  ask(input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
}

export interface Judging {
  readonly tools: readonly TriageTool[];
  /** Every request to the provider leaves through it, so that the kill switch stops it. */
  readonly gate: Gate;
  readonly signal: AbortSignal;
  /**
   * Is told at once who is asked, and of tokens as soon as they are used: an attempt that is ended before its verdict has
   * been paid for, too, and a reader wants to know what was asked of whom.
   */
  readonly meter?: { asks(asked: Asked): void; add(tokens: TokenUse): void };
}

export const PROVIDERS = ['anthropic', 'rules', 'none'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** Who gives verdicts. The configured one is used and no other: there is no silent change. */
export abstract class TriageModel {
  abstract readonly provider: ProviderName;
  /** The model's name as it is configured; undefined where there is none. */
  abstract readonly configuredModel: string | undefined;
  /** Whether it asks somebody outside: then the kill switch holds its runs. */
  abstract readonly asksOutside: boolean;
  /** Whether it uses the tools that it is offered. */
  readonly usesTools: boolean = true;

  /** Why nobody can be asked, whatever the incident; undefined where somebody can. */
  get unusable(): ModelUnavailableError | undefined {
    return undefined;
  }

  /** Throws ModelUnavailableError, and what the gate throws. */
  abstract judge(given: TriageCase, judging: Judging): Promise<Judgement>;
}
