import { SettingError } from '../../platform/config/load-settings.js';
import { chosenProvider } from '../../platform/config/setting-parsers.js';
import type { Settings } from '../../platform/config/settings.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { AnthropicModel } from './anthropic/anthropic-model.js';
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

/** Throws SettingError without a key. */
export function anthropicModel(settings: Settings, http: OutboundHttp): AnthropicModel {
  const { anthropicApiKey: apiKey, anthropicBaseUrl: baseUrl } = settings;
  if (apiKey === undefined) {
    throw new SettingError('TRIAGE_PROVIDER=anthropic requires ANTHROPIC_API_KEY.');
  }
  const { anthropicModel: model, triageTimeoutMs: timeoutMs } = settings;
  return new AnthropicModel(http, { apiKey, baseUrl, model, timeoutMs });
}

/** Throws SettingError if the settings of the provider are incomplete. */
export function modelOfSettings(settings: Settings, http: OutboundHttp): TriageModel {
  const provider = chosenProvider(settings);
  if (provider === 'anthropic') return anthropicModel(settings, http);
  return provider === 'rules' ? new RulesModel() : new NoModel();
}
