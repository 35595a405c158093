import type { FieldError } from '../../platform/errors/app-error.js';
import { mappingProblems } from '../mapping/mapping-rules.js';
import { PRESETS, presetNamed } from '../mapping/presets.js';
import { typeMappingProblems } from '../reading/incident-type.js';
import { severityMappingProblems } from '../reading/severity.js';
import type { WebhookSourceEntity } from './webhook-source.entity.js';
import { BASE64 } from '../signatures/signature-rules.js';
import type { Preset, SignatureScheme } from './webhook-source.js';

/** What an administrator decides about a source, its secret apart. Null where there is nothing. */
type SourceSettings = Pick<
  WebhookSourceEntity,
  | 'enabled'
  | 'signature'
  | 'format'
  | 'preset'
  | 'mapping'
  | 'incident_type'
  | 'severity_mapping'
  | 'type_mapping'
  | 'incident_type_fixed'
  | 'min_severity'
  | 'auto_triage'
  | 'playbook'
>;

export const DEFAULT_SETTINGS: SourceSettings = {
  enabled: true,
  signature: 'timestamped',
  format: 'auto',
  preset: null,
  mapping: null,
  incident_type: null,
  severity_mapping: {},
  type_mapping: {},
  incident_type_fixed: false,
  min_severity: 'low',
  auto_triage: false,
  playbook: null,
};

export const SETTINGS = Object.keys(DEFAULT_SETTINGS) as readonly (keyof SourceSettings)[];

/** What a request says: undefined where it says nothing, an empty text to take one away. */
export type SettingsChange = Partial<SourceSettings>;

/** What is wrong with a request, whatever the source is like. */
export function settingsProblems(change: SettingsChange): FieldError[] {
  const { format, preset, mapping, severity_mapping, type_mapping } = change;
  const problems: FieldError[] = [];
  if (mapping) problems.push(...mappingProblems(mapping, 'mapping'));
  if (severity_mapping) {
    problems.push(...severityMappingProblems(severity_mapping, 'severity_mapping'));
  }
  if (type_mapping) problems.push(...typeMappingProblems(type_mapping));
  if (typeof preset === 'string' && !presetNamed(preset)) {
    const message = `preset must be one of ${PRESETS.map(({ name }) => name).join(', ')}.`;
    problems.push({ field: 'preset', code: 'is_in', message });
  }
  if ((mapping || preset) && format !== undefined && format !== 'mapping') {
    const message = 'format must be mapping, or left out, where a mapping or a preset is given.';
    problems.push({ field: 'format', code: 'is_in', message });
  }
  return problems;
}

/** The settings after a request without problems: what it leaves out comes from its preset, or stays. */
export function settingsAfter(before: SourceSettings, change: SettingsChange): SourceSettings {
  const preset = change.preset ? presetNamed(change.preset) : undefined;
  const after: SourceSettings = {
    ...DEFAULT_SETTINGS,
    ...given(before),
    // A new mapping detaches the source from its preset.
    ...(change.mapping && { format: 'mapping', preset: null }),
    ...(preset && settingsOf(preset)),
    ...given(change),
  };
  return after.format === 'mapping' ? after : { ...after, mapping: null, preset: null };
}

/** What a preset does not say is as in a new source: what another preset said before does not fit this tool. */
function settingsOf(preset: Preset): SettingsChange {
  return {
    format: 'mapping',
    mapping: preset.mapping,
    severity_mapping: preset.severityMapping ?? DEFAULT_SETTINGS.severity_mapping,
    type_mapping: preset.typeMapping ?? DEFAULT_SETTINGS.type_mapping,
    incident_type: preset.incidentType ?? DEFAULT_SETTINGS.incident_type,
    signature: preset.signature,
  };
}

/** The settings that are said, and nothing else. An empty text says that there is none. */
function given(change: SettingsChange): SettingsChange {
  const said = SETTINGS.filter((name) => change[name] !== undefined);
  return Object.fromEntries(said.map((name) => [name, change[name] === '' ? null : change[name]]));
}

export const SHORTEST_SECRET = 16;
export const LONGEST_SECRET = 512;

/** White space at an end is lost where a sender trims what is pasted into it, and then no signature fits. */
export const SECRET = /^\S(?:[^]*\S)?$/;

/** Standard Webhooks writes the bytes of a secret in base64 behind this. */
const STANDARD_PREFIX = 'whsec_';

/** What a header can carry as one word. */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** Senders disagree about how other characters of a password become bytes. */
const ASCII = /^[\x20-\x7e]+$/;

/** Why no sender could use this secret for this signature, as a sentence; undefined when all is well. */
export function secretProblem(secret: string, signature: SignatureScheme): string | undefined {
  if (signature === 'standard' && secret.startsWith(STANDARD_PREFIX)) {
    const encoded = secret.slice(STANDARD_PREFIX.length);
    if (!BASE64.test(encoded)) {
      return `With the signature standard, base64 must follow ${STANDARD_PREFIX} in a secret.`;
    }
    if (Buffer.from(encoded, 'base64').length < SHORTEST_SECRET) {
      return `With the signature standard, base64 of at least ${SHORTEST_SECRET} bytes must follow ${STANDARD_PREFIX} in a secret.`;
    }
  }
  if (signature === 'token' && !VISIBLE_ASCII.test(secret)) {
    return 'With the signature token, a secret must be ASCII characters without spaces, because it is sent in a header.';
  }
  if (signature === 'basic' && !ASCII.test(secret)) {
    return 'With the signature basic, a secret must be ASCII characters, because it is sent as a password.';
  }
  return undefined;
}
