import type { FieldError } from '../platform/errors/app-error.js';
import { isIso8601 } from '../platform/validation/iso-8601.js';

export const MOST_RAW_DATA_BYTES = 256 * 1024;
export const MOST_RAW_DATA_LEVELS = 32;

/** What the raw data of a phishing incident carries; all of it is optional, and checked when it is there. */
export const PHISHING_KEYS = [
  'message_id',
  'sender',
  'recipient',
  'subject',
  'received_at',
] as const;

type RawData = Readonly<Record<string, unknown>>;

/** `serialised` is the JSON of `rawData` as it will be kept. */
export function rawDataErrors(
  incidentType: string,
  rawData: RawData,
  serialised: string,
): FieldError[] {
  if (isLonger(serialised)) return [TOO_LARGE];
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

/** A UTF-16 unit takes three bytes at most, so that most need no counting. */
function isLonger(serialised: string): boolean {
  return (
    serialised.length * 3 > MOST_RAW_DATA_BYTES &&
    Buffer.byteLength(serialised) > MOST_RAW_DATA_BYTES
  );
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return itemsOf(value).some((item) => isDeeper(item, levels - 1));
}

/** As Object.values, which takes three times as long for an object of many keys. */
export function itemsOf(value: object): readonly unknown[] {
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
