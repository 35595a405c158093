import type { Settings } from '../../platform/config/settings.js';
import { chosenProvider } from '../../platform/config/setting-parsers.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { configuredModel } from './anthropic/configured-model.js';
import { NoModel } from './no-model.js';
import { RulesModel } from './rules/rules-model.js';
import type { TriageModel } from './triage-model.port.js';

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
