import { SettingError } from '../../../platform/config/load-settings.js';
import type { Settings } from '../../../platform/config/settings.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { AnthropicModel } from './anthropic-model.js';

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
