import { type FieldError, ValidationError } from '../../platform/errors/app-error.js';
import { presetNamed } from '../reading/formats.js';
import { readingProblems } from '../reading/reading-problems.js';
import type { SignatureScheme, WebhookSourceEntity } from './webhook-source.entity.js';

export const DEFAULT_SETTINGS = {
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
} as const satisfies Partial<WebhookSourceEntity>;

export type SourceSettings = Pick<WebhookSourceEntity, keyof typeof DEFAULT_SETTINGS>;

export const SETTINGS = Object.keys(DEFAULT_SETTINGS) as readonly (keyof SourceSettings)[];

/** Settings of a request. An empty text removes the setting. */
export type SettingsChange = Partial<SourceSettings>;

export function settingsProblems(change: SettingsChange): FieldError[] {
  const { format, preset, mapping } = change;
  const { severity_mapping, type_mapping } = change;
  const problems = readingProblems({ mapping, severity_mapping, type_mapping });
  if ((!mapping && !preset) || format === undefined || format === 'mapping') return problems;
  const message = 'format must be mapping, or absent, if there is a mapping or a preset.';
  return [...problems, { field: 'format', code: 'is_in', message }];
}

/** Returns the settings after a valid request. A preset replaces all reading rules that are not in the request. */
export function settingsAfter(before: SourceSettings, change: SettingsChange): SourceSettings {
  const preset = change.preset ? presetNamed(change.preset) : undefined;
  const { mapping, severity_mapping, type_mapping, incident_type } = DEFAULT_SETTINGS;
  const after: SourceSettings = {
    ...DEFAULT_SETTINGS,
    ...given(before),
    // A new mapping detaches the source from its preset.
    ...(change.mapping && { format: 'mapping', preset: null }),
    ...(preset && { mapping, severity_mapping, type_mapping, incident_type, format: 'mapping' }),
    ...(preset && given(preset)),
    ...given(change),
  };
  if (after.format !== 'mapping') return { ...after, mapping: null, preset: null };
  if (after.mapping) return after;
  const message = 'mapping or preset is required if format is mapping.';
  throw ValidationError.of('mapping', 'required', message);
}

function given(change: SettingsChange): SettingsChange {
  const present = SETTINGS.filter((name) => change[name] !== undefined);
  return Object.fromEntries(
    present.map((name) => [name, change[name] === '' ? null : change[name]]),
  );
}

/** Excludes white space at the ends, because many senders trim pasted text. */
export const SECRET = /^\S(?:[^]*\S)?$/;

const SECRET_RULES: Partial<Record<SignatureScheme, readonly [pattern: RegExp, rule: string]>> = {
  // Base64 of 16 bytes has 22 letters without its padding.
  standard: [
    /^(?!whsec_)|^whsec_(?=[A-Za-z0-9+/]{22})(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/,
    'With the signature standard, base64 of at least 16 bytes must follow whsec_ in a secret.',
  ],
  token: [
    /^[\x21-\x7e]+$/,
    'With the signature token, a secret must be ASCII characters without spaces, because it is sent in a header.',
  ],
  // Senders encode other characters of a password in different ways.
  basic: [
    /^[\x20-\x7e]+$/,
    'With the signature basic, a secret must be ASCII characters, because it is sent as a password.',
  ],
};

export function secretProblem(secret: string, signature: SignatureScheme): string | undefined {
  const [pattern, rule] = SECRET_RULES[signature] ?? [/^/];
  return pattern.test(secret) ? undefined : rule;
}
