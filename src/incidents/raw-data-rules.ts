import type { FieldError } from '../platform/errors/app-error.js';
import { isIso8601 } from '../platform/validation/iso-8601.js';

export const MOST_RAW_DATA_BYTES = 256 * 1024;
export const MOST_RAW_DATA_LEVELS = 32;

/** The keys that the raw data of a phishing incident may have. None is required; those that are there are checked. */
export const PHISHING_KEYS = [
  'message_id',
  'sender',
  'recipient',
  'subject',
  'received_at',
] as const;

type RawData = Readonly<Record<string, unknown>>;

/** `json` is `rawData` as it will be stored: see rawDataJson. */
export function rawDataErrors(incidentType: string, rawData: RawData, json: string): FieldError[] {
  if (isTooLarge(json)) return [TOO_LARGE];
  return [
    ...(isDeeper(rawData, MOST_RAW_DATA_LEVELS) ? [TOO_DEEP] : []),
    ...(incidentType === 'phishing' ? phishingErrors(rawData) : []),
  ];
}

const TOO_LARGE: FieldError = {
  field: 'raw_data',
  code: 'max_bytes',
  message: `raw_data must be at most ${MOST_RAW_DATA_BYTES} bytes of JSON.`,
};

const TOO_DEEP: FieldError = {
  field: 'raw_data',
  code: 'max_depth',
  message: `raw_data must be at most ${MOST_RAW_DATA_LEVELS} levels deep.`,
};

/** A UTF-16 unit takes three bytes at most, so the bytes of most raw data need not be counted. */
function isTooLarge(json: string): boolean {
  return json.length * 3 > MOST_RAW_DATA_BYTES && Buffer.byteLength(json) > MOST_RAW_DATA_BYTES;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return itemsOf(value).some((item) => isDeeper(item, levels - 1));
}

/** Does what Object.values does, which takes three times as long for an object of many keys. */
function itemsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return Object.keys(value).map((key) => (value as RawData)[key]);
}

function phishingErrors(rawData: RawData): FieldError[] {
  return PHISHING_KEYS.flatMap((key) => {
    const value = Object.hasOwn(rawData, key) ? rawData[key] : undefined;
    const field = `raw_data.${key}`;
    if (value === undefined) return [];
    if (typeof value !== 'string') {
      return [{ field, code: 'is_string', message: `${field} must be a string.` }];
    }
    if (key === 'received_at' && !isIso8601(value)) {
      const message = `${field} must be an ISO 8601 time, such as 2026-01-31T09:30:00Z.`;
      return [{ field, code: 'is_iso_8601', message }];
    }
    return [];
  });
}

declare global {
  interface JSON {
    /** Node has it; the types of TypeScript do not yet. JSON.stringify writes the result as the text that was given. */
    rawJSON(text: string): { readonly rawJSON: string };
  }
}

/** A zero that stands by itself as a value in JSON text: only then can there be a negative zero. */
const LONE_ZERO = /[:[,]0[,\]}]/;

/** The JSON that is stored: what JSON.stringify writes, but with -0 as -0, which JSON.stringify writes as 0. */
export function rawDataJson(rawData: object): string {
  const json = JSON.stringify(rawData);
  // It will be refused for its size, so its zeros do not matter.
  if (json.length > MOST_RAW_DATA_BYTES) return json;
  if (!LONE_ZERO.test(json) || !holdsNegativeZero(rawData)) return json;
  return JSON.stringify(rawData, (_, value: unknown) =>
    Object.is(value, -0) ? JSON.rawJSON('-0') : value,
  );
}

function holdsNegativeZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0);
  return itemsOf(value).some(holdsNegativeZero);
}
