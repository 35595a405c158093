import type { SchemaObject } from '@nestjs/swagger';
import type { ActionParameter } from './action-types.js';
import {
  FORMATS_IN_WORDS,
  LARGEST_NUMBER,
  LONGEST_TEXT,
  type ParameterFormat,
} from './parameter-formats.js';
import { SAYS_SOMETHING } from '../platform/text.js';

/*
 * Schemas of parameters in the contract. `parameter-rules.ts` validates them; a test compares both with generated
 * values. The patterns use only features that every language supports: ASCII, no lookaround.
 */

/** Text of a target: not blank, without control characters. */
const TARGET = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f][^\\x00-\\x1f\\x7f]*$';

const LABEL = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const DOMAIN = `(${LABEL}\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;
const MAILBOX = '[^\\x00-\\x20\\x7f@"(),:;<>\\[\\]\\\\]{1,64}';

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `(${OCTET}\\.){3}${OCTET}`;

const PATTERNS: Readonly<Record<ParameterFormat, string>> = {
  ip: `^(${IPV4}|${ipv6()})$`,
  domain: `^${DOMAIN}$`,
  url: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\x00-\\x1f\\x7f]+$',
  email: `^${MAILBOX}@${DOMAIN}$`,
};

/** Eight groups, the last two optionally as IPv4; `::` stands for one or more missing groups. */
function ipv6(): string {
  const group = '[0-9A-Fa-f]{1,4}';
  const whole = `(${group}:){6}(${group}:${group}|${IPV4})`;
  const shortened = [0, 1, 2, 3, 4, 5, 6, 7].map((before) => {
    const head = before === 0 ? '' : `${group}(:${group}){${before - 1}}`;
    const after = 7 - before;
    const groups = after === 0 ? [] : [`${group}(:${group}){0,${after - 1}}`];
    const withIpv4 = after < 2 ? [] : [`(${group}:){0,${after - 2}}${IPV4}`];
    const tail = [...groups, ...withIpv4].join('|');
    return `${head}::${tail && `(${tail})?`}`;
  });
  return [whole, ...shortened].join('|');
}

/** Names of the formats in the contract. */
const FORMAT_NAMES: Readonly<Record<ParameterFormat, string>> = {
  ip: 'IpAddress',
  domain: 'DomainName',
  url: 'WebAddress',
  email: 'EmailAddress',
};

const FORMAT_EXAMPLES: Readonly<Record<ParameterFormat, string>> = {
  ip: '203.0.113.4',
  domain: 'evil.example',
  url: 'https://evil.example/login',
  email: 'mallory@evil.example',
};

const LONGEST: Readonly<Record<ParameterFormat, number>> = {
  ip: 45,
  domain: 253,
  url: LONGEST_TEXT,
  email: 318,
};

const formatSchema = (format: ParameterFormat): SchemaObject => ({
  type: 'string',
  minLength: 1,
  maxLength: LONGEST[format],
  pattern: PATTERNS[format],
  description: capitalised(`${FORMATS_IN_WORDS[format]}.`),
  example: FORMAT_EXAMPLES[format],
});

export const FORMAT_SCHEMAS: Readonly<Record<string, SchemaObject>> = Object.fromEntries(
  (Object.keys(FORMAT_NAMES) as ParameterFormat[]).map((format) => [
    FORMAT_NAMES[format],
    formatSchema(format),
  ]),
);

/** Schema of a parameter; `isTarget` if it names the target of the action. */
export function parameterSchema(
  { type, format }: ActionParameter,
  isTarget: boolean,
): SchemaObject | { readonly $ref: string } {
  if (type === 'integer') {
    return { type: 'integer', format: 'int32', minimum: 1, maximum: LARGEST_NUMBER };
  }
  if (format) return { $ref: `#/components/schemas/${FORMAT_NAMES[format]}` };
  const pattern = isTarget ? TARGET : SAYS_SOMETHING;
  return { type: 'string', minLength: 1, maxLength: LONGEST_TEXT, pattern };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
