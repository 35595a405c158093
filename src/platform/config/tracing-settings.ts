import type { Parser } from './setting.js';

export const TRACES_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type TracesSampler = (typeof TRACES_SAMPLERS)[number];

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\x20-\x7e]+$/;

/** `name=value` with commas between, the values percent-encoded, as OpenTelemetry writes headers. Never repeats what was given. */
export const otlpHeaders: Parser<Readonly<Record<string, string>>> = {
  fallback: {},
  example: '',
  read: (given) => Object.fromEntries(given.split(',').map(readHeader)),
};

function readHeader(pair: string): [string, string] {
  const [name, value] = [pair.split('=', 1)[0]!.trim(), pair.slice(pair.indexOf('=') + 1).trim()];
  const decoded = pair.includes('=') ? percentDecoded(value) : undefined;
  if (!NAME.test(name) || decoded === undefined || !VALUE.test(decoded)) {
    throw new Error('must be headers such as name=value,other=value, percent-encoded');
  }
  return [name, decoded];
}

function percentDecoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** A share of all, from nothing to everything. */
export function share(fallback: number): Parser<number> {
  return {
    fallback,
    example: String(fallback),
    read: (given) => {
      const number = Number(given);
      if (!/^[01]?(\.\d+)?$/.test(given) || number < 0 || number > 1) {
        throw new Error('must be a number from 0 to 1');
      }
      return number;
    },
  };
}
