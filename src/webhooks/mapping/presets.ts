import type { Preset } from './preset.js';
import { ALERTMANAGER } from './presets/alertmanager.js';
import { CLOUDFLARE } from './presets/cloudflare.js';
import { CROWDSTRIKE_EPP } from './presets/crowdstrike-epp.js';
import { ELASTIC } from './presets/elastic.js';
import { FALCO } from './presets/falco.js';
import { GITHUB } from './presets/github.js';
import { GOOGLE_SECOPS } from './presets/google-secops.js';
import { GUARDDUTY } from './presets/guardduty.js';
import { MICROSOFT_ALERT } from './presets/microsoft-alert.js';
import { OKTA } from './presets/okta.js';
import { PROOFPOINT } from './presets/proofpoint.js';
import { SECURITY_HUB } from './presets/security-hub.js';
import { SENTINELONE } from './presets/sentinelone.js';
import { SPLUNK_NOTABLE } from './presets/splunk-notable.js';
import { SUBLIME } from './presets/sublime.js';
import { SURICATA } from './presets/suricata.js';
import { WAZUH } from './presets/wazuh.js';

/** All that are shipped. A new one is a file in presets/, a line here, and a fixture with what is expected of it. */
export const PRESETS: readonly Preset[] = [
  MICROSOFT_ALERT,
  GUARDDUTY,
  SECURITY_HUB,
  CROWDSTRIKE_EPP,
  SENTINELONE,
  ELASTIC,
  WAZUH,
  SURICATA,
  SPLUNK_NOTABLE,
  OKTA,
  GOOGLE_SECOPS,
  ALERTMANAGER,
  PROOFPOINT,
  SUBLIME,
  FALCO,
  CLOUDFLARE,
  GITHUB,
];

const BY_NAME: ReadonlyMap<string, Preset> = new Map(
  PRESETS.map((preset) => [preset.name, preset]),
);

export function presetNamed(name: string): Preset | undefined {
  return BY_NAME.get(name);
}
