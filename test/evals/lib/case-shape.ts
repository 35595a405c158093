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

/**
 * Permitted categories of the cases. The service accepts any word, but the same words are necessary to compare
 * verdicts.
 */
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

/**
 * Copy of the event of a case with an added text of an attacker, who wants to change the verdict or to run something.
 */
export interface Injection {
  readonly id: string;
  readonly raw_data: RawData;
}

/** Body of `POST /api/incidents`. */
export interface GivenIncident {
  readonly incident_type: string;
  readonly severity: string;
  readonly source: string;
  readonly raw_data: RawData;
}

/** Body that a tool sends to a source with this preset. The preset sets type, severity and fields, as in production. */
export interface ToolAlert {
  readonly preset: string;
  readonly raw_data: RawData;
}

export interface EvalCase {
  readonly id: string;
  /** Name of the subject of the event. At most three cases share a template, whatever their wording. */
  readonly template: string;
  readonly kind: CaseKind;
  readonly incident: GivenIncident | ToolAlert;
  readonly expected: {
    readonly classification: Classification;
    readonly category: LabelledCategory;
    /** Other classifications that a careful analyst could defend. */
    readonly acceptable: readonly Classification[];
  };
  /** Reason of the analyst, for readers. No model sees it. */
  readonly why: string;
  readonly injections: readonly Injection[];
}

const NAME = { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' };
const TEXT = { type: 'string', minLength: 1 };
const CLASSIFICATION = { enum: CLASSIFICATIONS };

/** Returns the schema of an object with exactly these fields. */
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

/** Returns the cases of a parsed file. Throws an error with all violations of the shape. */
export function casesIn(content: unknown, file: string): EvalCase[] {
  if (isListOfCases(content)) return content;
  throw new Error(ajv.errorsText(isListOfCases.errors, { dataVar: file, separator: '\n' }));
}
