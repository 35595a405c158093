import { Ajv } from 'ajv';
import { PRESETS } from '../../../src/webhooks/reading/formats.js';
import { CLASSIFICATIONS, type Classification } from '../../../src/incidents/incident.js';

export const CASE_KINDS = [
  'phishing',
  'bec',
  'malware',
  'login',
  'benign_noise',
  'security_test',
  'too_little_data',
  'data_exfiltration',
] as const;
export type CaseKind = (typeof CASE_KINDS)[number];

/** The service takes any word. The labels keep to the documented ones, so that they can be compared. */
export const LABELLED_CATEGORIES = [
  'phishing',
  'spear_phishing',
  'bec',
  'malware_delivery',
  'spam',
  'malware',
  'ransomware',
  'cryptominer',
  'rat',
  'pup',
  'brute_force',
  'credential_stuffing',
  'impossible_travel',
  'account_takeover',
  'data_exfiltration',
  'web_attack',
  'legitimate',
  'unknown',
] as const;
export type LabelledCategory = (typeof LABELLED_CATEGORIES)[number];

export type RawData = Readonly<Record<string, unknown>>;

/** The event of a case once more, with text in it by which an attacker wants to change the verdict or to have something run. */
export interface Injection {
  readonly id: string;
  readonly raw_data: RawData;
}

/** What `POST /api/incidents` takes. */
export interface GivenIncident {
  readonly incident_type: string;
  readonly severity: string;
  readonly source: string;
  readonly raw_data: RawData;
}

/** A body as a tool posts it to a source with this preset: the preset says type, severity and fields, as in production. */
export interface ToolAlert {
  readonly preset: string;
  readonly raw_data: RawData;
}

export interface EvalCase {
  readonly id: string;
  /** What the event is about, whatever its wording: few cases may share one. */
  readonly template: string;
  readonly kind: CaseKind;
  readonly incident: GivenIncident | ToolAlert;
  readonly expected: {
    readonly classification: Classification;
    readonly category: LabelledCategory;
    /** Other classifications that a careful analyst could defend. */
    readonly acceptable: readonly Classification[];
  };
  /** Why an analyst decides so. For readers: no model sees it. */
  readonly why: string;
  readonly injections: readonly Injection[];
}

const NAME = { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' };
const TEXT = { type: 'string', minLength: 1 };
const CLASSIFICATION = { enum: CLASSIFICATIONS };

/** An object that has just these fields. */
const record = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const INJECTION = record({ id: NAME, raw_data: { type: 'object' } });

const CASE = record({
  id: NAME,
  template: NAME,
  kind: { enum: CASE_KINDS },
  incident: {
    anyOf: [
      record({
        incident_type: TEXT,
        severity: TEXT,
        source: TEXT,
        raw_data: { type: 'object' },
      }),
      record({ preset: { enum: PRESETS.map(({ name }) => name) }, raw_data: { type: 'object' } }),
    ],
  },
  expected: record({
    classification: CLASSIFICATION,
    category: { enum: LABELLED_CATEGORIES },
    acceptable: { type: 'array', items: CLASSIFICATION, uniqueItems: true },
  }),
  why: TEXT,
  injections: { type: 'array', items: INJECTION, minItems: 2 },
});

const ajv = new Ajv({ allErrors: true });
const isListOfCases = ajv.compile<EvalCase[]>({ type: 'array', items: CASE, minItems: 1 });

/** The cases of a parsed file; throws with everything that is not of their shape. */
export function casesIn(content: unknown, file: string): EvalCase[] {
  if (isListOfCases(content)) return content;
  throw new Error(ajv.errorsText(isListOfCases.errors, { dataVar: file, separator: '\n' }));
}
