const ZONE = String.raw`(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?`;
const HOUR = String.raw`(?:[01]\d|2[0-3])`;
const MINUTE = String.raw`[0-5]\d`;
/** 60: a leap second. */
const SECOND = String.raw`(?:[0-5]\d|60)(?:[.,]\d+)?`;
const EXTENDED = String.raw`(\d{4})-(\d\d)-(\d\d)(?:T${HOUR}(?::${MINUTE}(?::${SECOND})?)?${ZONE})?`;
const BASIC = String.raw`(\d{4})(\d\d)(\d\d)(?:T${HOUR}(?:${MINUTE}(?:${SECOND})?)?${ZONE})?`;
const FORMS = [EXTENDED, BASIC].map((form) => new RegExp(`^${form}$`, 'i'));

/**
 * A calendar date of ISO 8601 on a day that exists, with a time or without, as other systems write it. The times that
 * this service itself works with have to be more exact: see isIsoTime.
 */
export function isIso8601(text: string): boolean {
  const match = FORMS.map((form) => form.exec(text)).find((found) => found !== null);
  if (!match) return false;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Of the forms of ISO 8601 the one that names a moment: to the second, with a zone, in a year that PostgreSQL has. */
const MOMENT = /^(?!0000)[\d-]{10}T\d\d:\d\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/;

/** An ISO 8601 date and time with its zone, on a day that exists. */
export function isIsoTime(value: unknown): value is string {
  return typeof value === 'string' && MOMENT.test(value) && isIso8601(value);
}
