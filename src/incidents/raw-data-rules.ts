import { isISO8601 } from 'class-validator';
import type { FieldError } from '../platform/errors/app-error.js';
import type { RawData } from './incident-fields.js';

export const MOST_RAW_DATA_BYTES = 256 * 1024;
export const MOST_RAW_DATA_LEVELS = 32;

export const PHISHING_KEYS = [
  'message_id',
  'sender',
  'recipient',
  'subject',
  'received_at',
] as const;

/** @param json stored text of `rawData` */
export function rawDataErrors(incidentType: string, rawData: RawData, json: string): FieldError[] {
  // A UTF-16 unit has at most three bytes in UTF-8, so the slow count of bytes is necessary only for long JSON.
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
  return Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function phishingErrors(rawData: RawData): FieldError[] {
  return PHISHING_KEYS.flatMap((key) => {
    const value = Object.hasOwn(rawData, key) ? rawData[key] : undefined;
    const field = `raw_data.${key}`;
    if (value === undefined) return [];
    if (typeof value !== 'string') {
      return [{ field, code: 'is_string', message: `${field} must be a string.` }];
    }
    if (key === 'received_at' && !isISO8601(value, { strict: true, strictSeparator: true })) {
      const message = `${field} must be an ISO 8601 time, such as 2026-01-31T09:30:00Z.`;
      return [{ field, code: 'is_iso_8601', message }];
    }
    return [];
  });
}

/** Returns JSON of an object with raw_data as its last field, exactly as stored. */
export function jsonWithRawData(shown: object, rawData: string): string {
  return `${JSON.stringify(shown).slice(0, -1)},"raw_data":${rawData}}`;
}
