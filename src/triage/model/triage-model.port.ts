import type { Incident, Verdict } from '../../incidents/incident.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator } from '../evidence/indicators.js';

export interface TokenUse {
  /** All input, including tokens that the provider wrote to its cache or read from it. */
  readonly input: number;
  readonly output: number;
  readonly cached_input?: number;
}

export interface Asked {
  /** Model name in the provider's response, or the configured name before a response. `rules` for the scorer. */
  readonly model: string;
  /** SHA-256 in hex of everything that the model reads beside the incident. */
  readonly prompt_hash: string;
}

/** Counts the tokens of an attempt during the attempt, because an interrupted attempt also costs tokens. */
export class TokenMeter {
  /** Undefined if the attempt ended before a question. */
  asked: Asked | undefined;
  tokens: Required<TokenUse> = { input: 0, output: 0, cached_input: 0 };

  add({ input, output, cached_input = 0 }: TokenUse): void {
    this.tokens = {
      input: this.tokens.input + input,
      output: this.tokens.output + output,
      cached_input: this.tokens.cached_input + cached_input,
    };
  }
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
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/** A longer pause in a response is an error of the provider. */
export const LONGEST_RETRY_AFTER_MS = 60 * 60_000;

export class ModelUnavailableError extends Error {
  constructor(
    readonly reason: UnavailableReason,
    message: string,
    readonly extras: {
      readonly mayHelpLater: boolean;
      /** True if every question fails until an operator repairs a setting or an account. */
      readonly needsOperator?: boolean;
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: extras.cause });
    this.name = new.target.name;
  }

  /** True if the provider works, but gave no verdict on this incident. */
  get isAboutIncident(): boolean {
    const { mayHelpLater } = this.extras;
    return !mayHelpLater && ['refused', 'truncated', 'invalid_answer'].includes(this.reason);
  }
}

/** Error of a tool that cannot answer. The model and the readers of the run see the message. */
export class ToolError extends Error {}

/** Data for the model. An attacker may have written everything except the guidance. */
export interface TriageCase extends Pick<
  Incident,
  | 'id'
  | 'incident_number'
  | 'incident_type'
  | 'severity'
  | 'source'
  | 'title'
  | 'created_at'
  | 'fields'
> {
  readonly rawData: Readonly<Record<string, unknown>>;
  readonly indicators: readonly ExtractedIndicator[];
  readonly guidance?: string;
}

/** Verdict of a run. Code has checked its evidence: each pointer resolves to the value. */
export type RunVerdict = Required<Omit<Verdict, 'decided_by' | 'model' | 'triage_id' | 'proposed'>>;

/** Verdict of a model in the right shape, but unchecked. */
export interface ProposedVerdict extends RunVerdict {
  readonly recommended_actions: readonly string[];
}

export interface ToolCall {
  /** Id of the response for evidence: `t1`, `t2` and so on. */
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: unknown;
  readonly failed?: boolean;
  readonly duration_ms: number;
}

export interface ScoredPoint {
  readonly rule: string;
  readonly points: number;
  readonly pointer?: string;
  readonly explanation: string;
}

export interface Judgement extends Asked {
  readonly verdict: ProposedVerdict;
  readonly toolCalls: readonly ToolCall[];
  readonly points?: readonly ScoredPoint[];
}

/** A question that a model may ask. Only reads. Throws ToolError without an answer. */
export interface TriageTool {
  readonly name: string;
  readonly description: string;
  ask(indicator: ExtractedIndicator): Promise<object>;
}

/** JSON schema of a question. A model passes an indicator id, so it cannot put its own words into a question. */
export const QUESTION_SCHEMA = {
  type: 'object',
  properties: {
    indicator_id: { type: 'string', description: 'The id of an indicator of this incident.' },
  },
  required: ['indicator_id'],
  additionalProperties: false,
} as const;

export interface Judging {
  readonly tools: readonly TriageTool[];
  /** Passes every request to the provider, so that the kill switch stops it. */
  readonly gate: Gate;
  readonly signal: AbortSignal;
  readonly meter: TokenMeter;
}

export const PROVIDERS = ['anthropic', 'rules', 'none'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The configured provider of verdicts. There is no fallback to another provider. */
export abstract class TriageModel {
  abstract readonly provider: ProviderName;
  abstract readonly configuredModel: string | undefined;
  /** True if the model sends requests. The kill switch stops its runs. */
  abstract readonly asksOutside: boolean;

  get unusable(): ModelUnavailableError | undefined {
    return undefined;
  }

  /** Throws ModelUnavailableError, errors of the gate, and the reason of the signal. */
  abstract judge(given: TriageCase, judging: Judging): Promise<Judgement>;
}

const NOT_CONFIGURED =
  'No provider of verdicts is configured. Set ANTHROPIC_API_KEY, or TRIAGE_PROVIDER=rules.';

export class NoModel extends TriageModel {
  readonly provider = 'none';
  readonly configuredModel = undefined;
  readonly asksOutside = false;

  override get unusable(): ModelUnavailableError {
    const extras = { mayHelpLater: true, needsOperator: true };
    return new ModelUnavailableError('not_configured', NOT_CONFIGURED, extras);
  }

  async judge(): Promise<Judgement> {
    throw this.unusable;
  }
}
