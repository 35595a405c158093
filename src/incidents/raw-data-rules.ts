import type { FieldError } from '../platform/errors/app-error.js';
import { isIso8601 } from '../platform/validation/fields.js';
import type { RawData } from './incident-fields.js';

export const MOST_RAW_DATA_BYTES = 256 * 1024;
export const MOST_RAW_DATA_LEVELS = 32;

/** Keys of phishing incidents. They are optional and validated if present. */
export const PHISHING_KEYS = [
  'message_id',
  'sender',
  'recipient',
  'subject',
  'received_at',
] as const;

/** `json` is the stored text of `rawData`: see rawDataJson. */
export function rawDataErrors(incidentType: string, rawData: RawData, json: string): FieldError[] {
  // A UTF-16 unit takes at most three bytes, so most raw data need not be counted.
  if (json.length * 3 > MOST_RAW_DATA_BYTES && Buffer.byteLength(json) > MOST_RAW_DATA_BYTES) {
    return [overLimit('max_bytes', `${MOST_RAW_DATA_BYTES} bytes of JSON`)];
  }
  return [
    ...(isDeeper(rawData, MOST_RAW_DATA_LEVELS)
      ? [overLimit('max_depth', `${MOST_RAW_DATA_LEVELS} levels deep`)]
      : []),
    ...(incidentType === 'phishing' ? phishingErrors(rawData) : []),
  ];
}

const overLimit = (code: string, limit: string): FieldError => ({
  field: 'raw_data',
  code,
  message: `raw_data must be at most ${limit}.`,
});

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return itemsOf(value).some((item) => isDeeper(item, levels - 1));
}

/** Like Object.values, which takes three times as long for objects with many keys. */
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
    /**
     * Supported by Node.js but missing in the types of TypeScript. JSON.stringify writes the result as the given text.
     */
    rawJSON(text: string): { readonly rawJSON: string };
  }
}

/** A zero as a value in JSON text. Only such text can come from a negative zero. */
const LONE_ZERO = /[:[,]0[,\]}]/;

/** The stored JSON. Writes -0 as -0, unlike JSON.stringify. */
export function rawDataJson(rawData: object): string {
  const json = JSON.stringify(rawData);
  // The request will be rejected because of its size.
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

/** JSON of an object with raw_data as its last field, exactly as stored. */
export function jsonWithRawData(shown: object, rawData: string): string {
  return `${JSON.stringify(shown).slice(0, -1)},"raw_data":${rawData}}`;
}
