import { randomUUID } from 'node:crypto';
import { itemsOf, MOST_RAW_DATA_BYTES } from './raw-data-rules.js';

const LONE_ZERO = /[:[,]0[,\]}]/;

/** As JSON.stringify writes it, but for -0, which that would write as 0. */
export function rawDataJson(rawData: object): string {
  const json = JSON.stringify(rawData);
  // Refused for its size, whatever is in it.
  if (json.length > MOST_RAW_DATA_BYTES) return json;
  if (!LONE_ZERO.test(json) || !holdsNegativeZero(rawData)) return json;
  const mark = randomUUID();
  return JSON.stringify(rawData, (_, value: unknown) =>
    Object.is(value, -0) ? mark : value,
  ).replaceAll(`"${mark}"`, '-0');
}

function holdsNegativeZero(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0);
  return itemsOf(value).some(holdsNegativeZero);
}
