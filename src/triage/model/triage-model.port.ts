import type { Classification, Evidence, Indicator, Severity } from '../../incidents/incident.js';
import type { IncidentFields } from '../../incidents/incident-fields.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';
import type { ModelUnavailableError } from './model.errors.js';
import type { Asked, TokenUse } from './token-use.js';

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
