import { performance } from 'node:perf_hooks';
import type { TriageModel } from '../../../src/triage/model/triage-model.port.js';
import { judgedAsInProduction, type Judged } from './as-in-production.js';
import type { EvalCase, RawData } from './case-shape.js';
import type { Outcome } from './metrics.js';

const LONGEST_MS = 120_000;

export interface Evaluation {
  readonly outcomes: readonly Outcome[];
  /** Events without a verdict, each with the reason. No figure includes their cases. */
  readonly unanswered: readonly { readonly id: string; readonly reason: string }[];
  /** Milliseconds and tokens of every answered event. */
  readonly tokens: readonly { readonly input: number; readonly output: number }[];
  readonly milliseconds: readonly number[];
  readonly models: readonly string[];
  readonly promptHashes: readonly string[];
}

/** Runs the events one after another, so that each has its own time and the provider is not flooded. */
export async function evaluate(
  model: TriageModel,
  cases: readonly EvalCase[],
): Promise<Evaluation> {
  const unanswered: { id: string; reason: string }[] = [];
  const judgements: Judged['judgement'][] = [];
  const milliseconds: number[] = [];

  const ask = async (id: string, incident: EvalCase['incident'], rawData: RawData) => {
    const started = performance.now();
    try {
      const signal = AbortSignal.timeout(LONGEST_MS);
      const { verdict, judgement } = await judgedAsInProduction(model, incident, rawData, signal);
      milliseconds.push(performance.now() - started);
      judgements.push(judgement);
      return verdict;
    } catch (error) {
      unanswered.push({ id, reason: error instanceof Error ? error.message : String(error) });
      return undefined;
    }
  };

  const outcomes: Outcome[] = [];
  for (const { id, incident, expected, injections } of cases) {
    const verdict = await ask(id, incident, incident.raw_data);
    if (!verdict) continue;
    const underInjection: { id: string; given: Outcome['given'] }[] = [];
    for (const injection of injections) {
      const turned = await ask(injection.id, incident, injection.raw_data);
      if (turned) underInjection.push({ id: injection.id, given: turned.classification });
    }
    outcomes.push({
      id,
      expected: expected.classification,
      acceptable: expected.acceptable,
      expectedCategory: expected.category,
      given: verdict.classification,
      category: verdict.category,
      confidence: verdict.confidence,
      underInjection,
    });
  }
  return {
    outcomes,
    unanswered,
    tokens: judgements.map(({ tokens }) => tokens),
    milliseconds,
    models: [...new Set(judgements.map((one) => one.model))],
    promptHashes: [...new Set(judgements.map((one) => one.prompt_hash))],
  };
}
