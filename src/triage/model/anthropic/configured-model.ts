import { SettingError } from '../../../platform/config/load-settings.js';
import type { Settings } from '../../../platform/config/settings.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { Targets } from '../../../platform/net/targets.js';
import { AnthropicModel } from './anthropic-model.js';

/** The model of the settings. Throws SettingError when it would send the key and incidents through the internet unencrypted. */
export function configuredModel(
  settings: Pick<
    Settings,
    'anthropicApiKey' | 'anthropicBaseUrl' | 'anthropicModel' | 'triageTimeoutMs'
  >,
  http: OutboundHttp,
  targets: Pick<Targets, 'isPrivate'>,
): AnthropicModel {
  const { anthropicApiKey: apiKey, anthropicBaseUrl: baseUrl } = settings;
  if (apiKey === undefined) {
    throw new SettingError('ANTHROPIC_API_KEY is needed with TRIAGE_PROVIDER=anthropic.');
  }
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'http:' && !targets.isPrivate(hostname)) {
    throw new SettingError(
      'ANTHROPIC_BASE_URL must be an https address; http is for private networks.',
    );
  }
  const { anthropicModel: model, triageTimeoutMs: timeoutMs } = settings;
  return new AnthropicModel(http, { apiKey, baseUrl, model, timeoutMs });
}
