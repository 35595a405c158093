import { RulesModel } from '../../../src/triage/model/rules/rules-model.js';
import type { TriageModel } from '../../../src/triage/model/triage-model.port.js';
import { ScriptedModel } from './scripted-model.js';

/** Everything that can be evaluated, by the name that the command takes. */
const MODELS: Readonly<Record<string, () => TriageModel>> = {
  rules: () => new RulesModel(),
  scripted: () => new ScriptedModel(),
};

export const EVALUATED = Object.keys(MODELS);

export function modelOf(provider: string): TriageModel {
  if (!Object.hasOwn(MODELS, provider)) {
    throw new Error(`No provider ${provider}: there are ${EVALUATED.join(', ')}.`);
  }
  return MODELS[provider]!();
}
