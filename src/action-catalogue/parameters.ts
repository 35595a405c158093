import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { SchemaObject } from '@nestjs/swagger';
import { SAYS_SOMETHING } from '../platform/text.js';

export interface ActionParameter {
  readonly name: string;
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly values?: readonly string[];
  readonly format?: ParameterFormat;
  /** Text for people. Templates insert it without links. */
  readonly forPeople?: true;
}

/** Maximum length of a text. */
export const LONGEST_TEXT = 4_096;
/** Maximum number: the largest integer of every language. */
export const LARGEST_NUMBER = 2_147_483_647;

/**
 * Formats that the service checks, because protected targets must be recognised in them. Vendors check all other
 * parameters.
 */
export const PARAMETER_FORMATS = ['ip', 'domain', 'url', 'email'] as const;
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number];

/** Descriptions of the formats, for error messages and the contract. */
export const FORMATS_IN_WORDS: Readonly<Record<ParameterFormat, string>> = {
  ip: 'an IPv4 or IPv6 address, without prefix length or zone',
  domain: 'a domain name of two or more labels in ASCII, such as evil.example',
  url: 'a whole http or https address without spaces',
  email: 'one email address without a name around it, such as mallory@evil.example',
};

const LONGEST_DOMAIN = 253;
const DOMAIN = /^((?!-)[a-z0-9_-]{1,63}(?<!-)\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const LOCAL_PART = /^[^\s\p{C}@"(),:;<>[\]\\]{1,64}$/u;
const URL_TEXT = /^https?:\/\/[^\s\p{C}]+$/iu;

const CHECKS: Readonly<Record<ParameterFormat, (text: string) => boolean>> = {
  ip: (text) => isIP(text) !== 0 && !text.includes('%'),
  domain: isDomain,
  url: (text) => URL_TEXT.test(text) && URL.canParse(text),
  email: (text) => {
    const at = text.lastIndexOf('@');
    return at > 0 && LOCAL_PART.test(text.slice(0, at)) && isDomain(text.slice(at + 1));
  },
};

/** Whether the whole text has the format, so that the vendor cannot read another target in it. */
export function hasFormat(format: ParameterFormat, text: string): boolean {
  return CHECKS[format](text);
}

function isDomain(text: string): boolean {
  return text.length <= LONGEST_DOMAIN && DOMAIN.test(text) && URL.canParse(`http://${text}`);
}

/** Message id without angle brackets, which some tools omit. Ids are case-sensitive. */
export function bareMessageId(text: string): string {
  return text.trim().replace(/^<(.*)>$/s, '$1');
}

const COMMENTS = /\([^()]*\)/g;
/** The address behind a display name. */
const IN_BRACKETS = /<([^<>]*)>$/;

/**
 * Reads the one address of a mail header such as `Ann <ann@example.com> (Sales)`, in lower case and with an encoded domain, so
 * that all spellings are equal. `undefined` if the text has another form, such as a name without an address.
 */
export function mailAddressIn(header: string): string | undefined {
  const text = header.replace(COMMENTS, '').trim();
  const address = (IN_BRACKETS.exec(text)?.[1] ?? text).trim();
  const at = address.lastIndexOf('@');
  const encoded = `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`.toLowerCase();
  return at > 0 && hasFormat('email', encoded) ? encoded : undefined;
}

/*
 * Schemas of parameters in the contract. `parameter-rules.ts` validates them; a test compares both with generated
 * values. The patterns use only features that every language supports: ASCII, no lookaround.
 */

/** Text of a target: not blank, without control characters. */
const TARGET = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f][^\\x00-\\x1f\\x7f]*$';

const LABEL = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const DOMAIN_PATTERN = `(${LABEL}\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;
const MAILBOX = '[^\\x00-\\x20\\x7f@"(),:;<>\\[\\]\\\\]{1,64}';

const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `(${OCTET}\\.){3}${OCTET}`;

const PATTERNS: Readonly<Record<ParameterFormat, string>> = {
  ip: `^(${IPV4}|${ipv6()})$`,
  domain: `^${DOMAIN_PATTERN}$`,
  url: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\x00-\\x1f\\x7f]+$',
  email: `^${MAILBOX}@${DOMAIN_PATTERN}$`,
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
