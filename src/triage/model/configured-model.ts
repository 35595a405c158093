import { chosenProvider } from '../../platform/config/setting-parsers.js';
import type { Settings } from '../../platform/config/settings.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { RulesModel } from './rules/rules-model.js';
import { type Judgement, ModelUnavailableError, TriageModel } from './triage-model.port.js';

const NOT_CONFIGURED =
  'No provider of verdicts is configured. Set ANTHROPIC_API_KEY, or TRIAGE_PROVIDER=rules.';

/** Only people give verdicts. */
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

/** Throws SettingError if the settings of the provider are incomplete. The SDK of a provider is loaded only if it is used. */
export async function modelOfSettings(
  settings: Settings,
  http: OutboundHttp,
): Promise<TriageModel> {
  const provider = chosenProvider(settings);
  if (provider === 'none') return new NoModel();
  if (provider === 'rules') return new RulesModel();
  const { anthropicModel } = await import('./anthropic/anthropic-model.js');
  return anthropicModel(settings, http);
}
