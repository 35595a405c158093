import type { Preset } from './mapping.js';

export const PRESETS: readonly Preset[] = [
  {
    name: 'github',
    title: 'GitHub',
    documentation: 'https://docs.github.com/webhooks/webhook-events-and-payloads',
    setUp: ['Send events to {url}.'],
    mapping: { title: '/alert/rule/description', severity: '/alert/rule/security_severity_level' },
    incidentType: 'policy_violation',
    signature: 'body',
  },
  {
    name: 'suricata',
    title: 'Suricata',
    documentation: 'https://docs.suricata.io/en/latest/output/eve/eve-json-format.html',
    setUp: ['Send events to {url}.'],
    mapping: { title: '/alert/signature', severity: '/alert/severity' },
    severityMapping: { 1: 'high', 2: 'medium', 3: 'low' },
    signature: 'token',
  },
];

export function presetNamed(name: string): Preset | undefined {
  return PRESETS.find((preset) => preset.name === name);
}
