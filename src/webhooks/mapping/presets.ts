import { type Json, isList } from '../reading/json.js';
import { parsePointer } from '../../platform/json-pointer.js';
import { resolve } from './places.js';
import type { Preset } from '../sources/webhook-source.js';
import { ABNORMAL, MIMECAST, PROOFPOINT, SUBLIME } from './presets/mail.js';
import { ALERTMANAGER, DATADOG, GRAFANA, PAGERDUTY } from './presets/monitoring.js';
import {
  AZURE_MONITOR,
  CLOUDFLARE,
  GITHUB,
  GOOGLE_SECOPS,
  GUARDDUTY,
  MICROSOFT_ALERT,
  OKTA,
  SECURITY_HUB,
} from './presets/cloud.js';
import { CORTEX_XDR, CROWDSTRIKE_EPP, FALCO, SENTINELONE, WAZUH } from './presets/endpoints.js';
import { ELASTIC, GRAYLOG, SPLUNK_NOTABLE, SURICATA } from './presets/siem.js';

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
  CORTEX_XDR,
  PAGERDUTY,
  DATADOG,
  GRAFANA,
  AZURE_MONITOR,
  GRAYLOG,
  MIMECAST,
  ABNORMAL,
];

const BY_NAME: ReadonlyMap<string, Preset> = new Map(
  PRESETS.map((preset) => [preset.name, preset]),
);

export function presetNamed(name: string): Preset | undefined {
  return BY_NAME.get(name);
}

/** The preset whose tool sends such bodies. Of marks that fit, the one with the most pointers counts; undefined where two have as many. */
export function presetLike(body: Json): Preset | undefined {
  const first = isList(body) ? body[0] : body;
  if (first === undefined) return undefined;
  const found = PRESETS.map((preset) => ({ preset, length: longestMark(preset, first) }));
  const longest = Math.max(...found.map(({ length }) => length));
  const [best, ...others] = found.filter(({ length }) => length === longest);
  return longest > 0 && others.length === 0 ? best!.preset : undefined;
}

function longestMark({ marks }: Preset, body: Json): number {
  const fitting = marks.filter((mark) => mark.every((pointer) => leadsSomewhere(body, pointer)));
  return Math.max(0, ...fitting.map((mark) => mark.length));
}

function leadsSomewhere(body: Json, pointer: string): boolean {
  const value = resolve(body, parsePointer(pointer)!);
  return value !== undefined && value !== null;
}
