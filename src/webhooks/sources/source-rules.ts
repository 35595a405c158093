import type { FieldError } from '../../platform/errors/app-error.js';
import { presetNamed } from '../presets/presets.js';
import { readingProblems } from '../reading/reading-problems.js';
import { BASE64 } from '../signatures/signature-rules.js';
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

/** Settings of a source that an administrator chooses, without the secret. */
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
  return after.format === 'mapping' ? after : { ...after, mapping: null, preset: null };
}

function given(change: SettingsChange): SettingsChange {
  const present = SETTINGS.filter((name) => change[name] !== undefined);
  return Object.fromEntries(
    present.map((name) => [name, change[name] === '' ? null : change[name]]),
  );
}

export const SHORTEST_SECRET = 16;
export const LONGEST_SECRET = 512;

/** Excludes white space at the ends, because many senders trim pasted text. */
export const SECRET = /^\S(?:[^]*\S)?$/;

/** In Standard Webhooks, the prefix precedes base64 of the secret. */
const STANDARD = /^whsec_([^]*)$/;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** Senders encode other characters of a password in different ways. */
const ASCII = /^[\x20-\x7e]+$/;

export function secretProblem(secret: string, signature: SignatureScheme): string | undefined {
  const encoded = signature === 'standard' ? STANDARD.exec(secret)?.[1] : undefined;
  if (encoded !== undefined) {
    const isLong = Buffer.from(encoded, 'base64').length >= SHORTEST_SECRET;
    if (!isLong || !BASE64.test(encoded)) {
      return `With the signature standard, base64 of at least ${SHORTEST_SECRET} bytes must follow whsec_ in a secret.`;
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
