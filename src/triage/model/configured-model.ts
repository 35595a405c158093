import { SettingError } from '../../platform/config/load-settings.js';
import { chosenProvider } from '../../platform/config/setting-parsers.js';
import type { Settings } from '../../platform/config/settings.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { AnthropicModel } from './anthropic/anthropic-model.js';
import { type Judgement, ModelUnavailableError, TriageModel } from './triage-model.port.js';
import { RulesModel } from './rules/rules-model.js';

const NOT_CONFIGURED =
  'No provider of verdicts is configured. Set ANTHROPIC_API_KEY, or TRIAGE_PROVIDER=rules.';

/** Nobody gives verdicts but people. */
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

/** The model of the settings. Throws SettingError when they hold no key. */
export function configuredModel(
  settings: Pick<
    Settings,
    'anthropicApiKey' | 'anthropicBaseUrl' | 'anthropicModel' | 'triageTimeoutMs'
  >,
  http: OutboundHttp,
): AnthropicModel {
  const { anthropicApiKey: apiKey, anthropicBaseUrl: baseUrl } = settings;
  if (apiKey === undefined) {
    throw new SettingError('TRIAGE_PROVIDER=anthropic requires ANTHROPIC_API_KEY.');
  }
  const { anthropicModel: model, triageTimeoutMs: timeoutMs } = settings;
  return new AnthropicModel(http, { apiKey, baseUrl, model, timeoutMs });
}

/** Who gives verdicts here. Throws SettingError when the settings name a provider that cannot be asked. */
export function modelOfSettings(settings: Settings, http: OutboundHttp): TriageModel {
  switch (chosenProvider(settings)) {
    case 'anthropic':
      return configuredModel(settings, http);
    case 'rules':
      return new RulesModel();
    case 'none':
      return new NoModel();
  }
}
