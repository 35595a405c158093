import { loadSettings } from '../../../src/platform/config/settings.js';
import { OutboundHttp } from '../../../src/platform/net/outbound-http.js';
import { Resolver, Targets } from '../../../src/platform/net/targets.js';
import { AnthropicModel } from '../../../src/triage/model/anthropic/anthropic-model.js';
import { RulesModel } from '../../../src/triage/model/rules/rules-model.js';
import type { TriageModel } from '../../../src/triage/model/triage-model.port.js';

/** Models by their name in the command line. */
const MODELS: Readonly<Record<string, () => TriageModel>> = {
  rules: () => new RulesModel(),
  anthropic: modelOfEnvironment,
};

export const EVALUATED = Object.keys(MODELS);

/** Throws an error if the settings of the environment do not allow requests to the provider. */
export function modelOf(provider: string): TriageModel {
  if (!Object.hasOwn(MODELS, provider)) {
    throw new Error(`No provider ${provider}: there are ${EVALUATED.join(', ')}.`);
  }
  return MODELS[provider]!();
}

/** Creates the model with the same settings and the same outbound client as the service. */
function modelOfEnvironment(): TriageModel {
  const settings = loadSettings();
  return new AnthropicModel(settings, new OutboundHttp(new Targets(new Resolver(), settings)));
}
