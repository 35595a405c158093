import type { Incident } from '../../incidents/incident.js';
import { AppError } from '../../platform/errors/app-error.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator } from '../evidence/indicators.js';
import type {
  ProviderName,
  TriagePointDto as ScoredPoint,
  TriageToolCallDto as ToolCall,
  TriageVerdictDto as RunVerdict,
  UnavailableReason,
} from '../triage-run.js';

export type { RunVerdict, ScoredPoint, ToolCall, UnavailableReason };

export const NO_TOKENS = { input: 0, output: 0, cached_input: 0 };
/** `input` includes the tokens that the provider wrote to its cache or read from its cache. */
export type TokenUse = Readonly<typeof NO_TOKENS>;

export interface Asked {
  /** Name in the provider's response; before a response, the configured name. The built-in rules are `rules`. */
  readonly model: string;
  /** SHA-256 in hex of everything that the model reads, except the incident. */
  readonly prompt_hash: string;
}

/** Counts the tokens of an attempt during the attempt, because an interrupted attempt also costs tokens. */
export class TokenMeter {
  asked: Asked | undefined;
  tokens: TokenUse = NO_TOKENS;

  add({ input = 0, output = 0, cached_input = 0 }: Partial<TokenUse>): void {
    const { tokens: before } = this;
    this.tokens = {
      input: before.input + input,
      output: before.output + output,
      cached_input: before.cached_input + cached_input,
    };
  }
}

/** Condition for a successful retry. `time`: a pause. `operator`: a corrected setting or account. */
export type Remedy = 'time' | 'operator' | 'nothing';

/** Reports that there is no verdict. A waiting request gets this error as its response. */
export class ModelUnavailableError extends AppError {
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly reason: UnavailableReason,
    message: string,
    readonly remedy: Remedy,
    { retryAfterMs, cause }: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    const seconds = Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1_000));
    const headers = { 'retry-after': String(seconds) };
    const extras = { details: { reason }, cause, ...(retryAfterMs !== undefined && { headers }) };
    super('ai_unavailable', message, extras);
    this.retryAfterMs = retryAfterMs;
  }

  get why() {
    const { reason, message } = this;
    return { reason, message };
  }

  /** True if the provider works and only this incident gets no verdict. */
  get isAboutIncident(): boolean {
    const isAnswer = ['refused', 'truncated', 'invalid_answer'].includes(this.reason);
    return isAnswer && this.remedy === 'nothing';
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

/** Verdict of a model that has the right shape but is not checked yet. */
export interface ProposedVerdict extends RunVerdict {
  readonly recommended_actions: readonly string[];
}

export interface Judgement extends Asked {
  readonly verdict: ProposedVerdict;
  readonly tool_calls: readonly ToolCall[];
  readonly points?: readonly ScoredPoint[];
}

/** Tool with which a model asks a question. It only reads. `ask` throws ToolError if there is no answer. */
export interface TriageTool {
  readonly name: string;
  readonly description: string;
  ask(indicator: ExtractedIndicator): Promise<object>;
}

/** JSON schema of a question. A question contains only an indicator id, so a model cannot put its own words into it. */
export const QUESTION_SCHEMA = {
  type: 'object' as const,
  properties: {
    indicator_id: { type: 'string', description: 'The id of an indicator of this incident.' },
  },
  required: ['indicator_id'],
  additionalProperties: false,
};

export interface Judging {
  readonly tools: readonly TriageTool[];
  /** Every request to the provider passes this permit check, so that the kill switch can stop the request. */
  readonly gate: Gate;
  readonly signal: AbortSignal;
  readonly meter: TokenMeter;
}

/** Provider of verdicts, as configured. There is no fallback to another provider. */
export abstract class TriageModel {
  abstract readonly provider: ProviderName;
  abstract readonly configuredModel: string | undefined;
  /** True if the model sends requests. The kill switch stops its runs. */
  abstract readonly asksOutside: boolean;
  readonly unusable: ModelUnavailableError | undefined = undefined;

  abstract judge(given: TriageCase, judging: Judging): Promise<Judgement>;
}

export class NoModel extends TriageModel {
  readonly provider = 'none';
  readonly configuredModel = undefined;
  readonly asksOutside = false;
  override readonly unusable = new ModelUnavailableError(
    'not_configured',
    'No provider of verdicts is configured. Set ANTHROPIC_API_KEY, or TRIAGE_PROVIDER=rules.',
    'nothing',
  );

  judge(): Promise<Judgement> {
    return Promise.reject(this.unusable);
  }
}
