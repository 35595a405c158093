import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import type { SchemaObject } from '@nestjs/swagger';
import { SAYS_SOMETHING, shownName } from '../platform/text.js';

export interface ActionParameter {
  readonly name: string;
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly values?: readonly string[];
  readonly format?: ParameterFormat;
  /** True for text for people. Templates insert text for people without links. */
  readonly forPeople?: true;
}

export const LONGEST_TEXT = 4_096;
/** The largest integer of every language. */
const LARGEST_NUMBER = 2_147_483_647;

const LONGEST_DOMAIN = 253;
const DOMAIN = /^((?!-)[a-z0-9_-]{1,63}(?<!-)\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const LOCAL_PART = /^[^\s\p{C}@"(),:;<>[\]\\]{1,64}$/u;
const URL_TEXT = /^https?:\/\/[^\s\p{C}]+$/iu;

// The contract's patterns use only features that every language supports: ASCII, no lookaround.
const LABEL = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const DOMAIN_PATTERN = `(${LABEL}\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;
const MAILBOX = '[^\\x00-\\x20\\x7f@"(),:;<>\\[\\]\\\\]{1,64}';
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `(${OCTET}\\.){3}${OCTET}`;

/** Invisible characters: control characters, zero-width characters and direction marks. */
const FORMAT_CHARACTER = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
const ALL_FORMAT_CHARACTERS = new RegExp(FORMAT_CHARACTER, 'gu');

export function hasFormatCharacter(text: string): boolean {
  return FORMAT_CHARACTER.test(text);
}

/** Quotes a text for a message: on one line, with invisible characters escaped. */
export function visible(text: string): string {
  const escape = (character: string): string =>
    `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`;
  return JSON.stringify(text).replace(ALL_FORMAT_CHARACTERS, escape);
}

interface Format {
  /** Description for error messages and the contract. */
  readonly words: string;
  readonly check: (text: string) => boolean;
  /** Name, pattern, maximum length and example of the schema in the contract. */
  readonly name: string;
  readonly pattern: string;
  readonly maxLength: number;
  readonly example: string;
}

/** Formats that the service checks, because it must recognize protected targets. Vendors check all other parameters. */
export const FORMATS = {
  ip: {
    words: 'an IPv4 or IPv6 address, without prefix length or zone',
    check: (text) => isIP(text) !== 0 && !text.includes('%'),
    name: 'IpAddress',
    pattern: `^(${IPV4}|${ipv6()})$`,
    maxLength: 45,
    example: '203.0.113.4',
  },
  domain: {
    words: 'a domain name of two or more labels in ASCII, such as evil.example',
    check: isDomain,
    name: 'DomainName',
    pattern: `^${DOMAIN_PATTERN}$`,
    maxLength: LONGEST_DOMAIN,
    example: 'evil.example',
  },
  url: {
    words: 'a whole http or https address without spaces',
    check: (text) => URL_TEXT.test(text) && URL.canParse(text),
    name: 'WebAddress',
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\x00-\\x1f\\x7f]+$',
    maxLength: LONGEST_TEXT,
    example: 'https://evil.example/login',
  },
  email: {
    words: 'one email address without a name around it, such as mallory@evil.example',
    check: (text) => {
      const at = text.lastIndexOf('@');
      return at > 0 && LOCAL_PART.test(text.slice(0, at)) && isDomain(text.slice(at + 1));
    },
    name: 'EmailAddress',
    pattern: `^${MAILBOX}@${DOMAIN_PATTERN}$`,
    maxLength: 318,
    example: 'mallory@evil.example',
  },
} as const satisfies Readonly<Record<string, Format>>;

export type ParameterFormat = keyof typeof FORMATS;
export const PARAMETER_FORMATS = Object.keys(FORMATS) as ParameterFormat[];

/** True if the whole text has the format, so that a vendor cannot read another target in the text. */
export function hasFormat(format: ParameterFormat, text: string): boolean {
  return FORMATS[format].check(text);
}

function isDomain(text: string): boolean {
  return text.length <= LONGEST_DOMAIN && DOMAIN.test(text) && URL.canParse(`http://${text}`);
}

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

interface Parameterised {
  readonly name: string;
  readonly parameters: readonly ActionParameter[];
  readonly target?: { readonly parameter: string };
}

type Given = Readonly<Record<string, unknown>>;

/** Maximum number of unknown parameters in an error. */
const MOST_UNKNOWN = 100;

/** Returns the errors in the parameters of an action of this type. */
export function parameterErrors({ name: type, parameters, target }: Parameterised, given: Given) {
  const unknown = Object.keys(given)
    .filter((name) => !parameters.some((parameter) => parameter.name === name))
    .slice(0, MOST_UNKNOWN)
    .map((name) => error(shownName(name), 'unknown_field', `is not a parameter of ${type}`));
  const wrong = parameters.flatMap((parameter) => {
    const { name } = parameter;
    const problem = problemOf(parameter, Object.hasOwn(given, name) ? given[name] : undefined);
    return problem ? [error(name, ...problem)] : [];
  });
  const value = target && given[target.parameter];
  // An invisible character would disguise a protected target as another target.
  const isHidden = typeof value === 'string' && hasFormatCharacter(value);
  const problem = 'must have no control, zero-width or direction characters';
  const hidden = isHidden ? [error(target!.parameter, 'format_character', problem)] : [];
  return [...unknown, ...wrong, ...hidden];
}

type Problem = readonly [code: string, words: string];

function problemOf(parameter: ActionParameter, value: unknown): Problem | undefined {
  const { type, required, values, format } = parameter;
  if (value === undefined) return required ? ['required', 'is required'] : undefined;
  if (type === 'integer') {
    const fits = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LARGEST_NUMBER;
    return fits ? undefined : ['is_int', `must be a whole number from 1 to ${LARGEST_NUMBER}`];
  }
  if (typeof value !== 'string') return ['is_string', 'must be a string'];
  if (value.trim() === '') return ['is_not_empty', 'must not be empty'];
  if (value.length > LONGEST_TEXT && [...value].length > LONGEST_TEXT) {
    return ['max_length', `must be at most ${LONGEST_TEXT} characters`];
  }
  if (values && !values.includes(value)) return ['is_in', `must be one of ${values.join(', ')}`];
  if (!format || hasFormat(format, value)) return undefined;
  return [`is_${format}`, `must be ${FORMATS[format].words}`];
}

function error(name: string, code: string, problem: string) {
  const field = `parameters.${name}`;
  return { field, code, message: `${field} ${problem}.` };
}

/** Removes angle brackets, which some tools omit. Message ids are case-sensitive. */
export function bareMessageId(text: string): string {
  return text.trim().replace(/^<(.*)>$/s, '$1');
}

const COMMENTS = /\([^()]*\)/g;
/** Address after a display name. */
const IN_BRACKETS = /<([^<>]*)>$/;

/**
 * Reads the single address of a mail header such as `Ann <ann@example.com> (Sales)`, in lower case and with an encoded domain,
 * so that all spellings are equal. Returns `undefined` if the text has another form, such as a name without an address.
 */
export function mailAddressIn(header: string): string | undefined {
  const text = header.replace(COMMENTS, '').trim();
  const address = (IN_BRACKETS.exec(text)?.[1] ?? text).trim();
  const at = address.lastIndexOf('@');
  const encoded = `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`.toLowerCase();
  return at > 0 && hasFormat('email', encoded) ? encoded : undefined;
}

export const FORMAT_SCHEMAS: Readonly<Record<string, SchemaObject>> = Object.fromEntries(
  Object.values(FORMATS).map(({ name, words, pattern, maxLength, example }) => {
    const description = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
    return [name, { type: 'string', minLength: 1, maxLength, pattern, description, example }];
  }),
);

/** Text of a target: not blank, without control characters. */
const TARGET = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f][^\\x00-\\x1f\\x7f]*$';

/**
 * Schema of a parameter; `isTarget` if the parameter names the target of the action. A test compares the schema with
 * parameterErrors.
 */
export function parameterSchema(
  { type, format }: ActionParameter,
  isTarget: boolean,
): SchemaObject | { readonly $ref: string } {
  if (type === 'integer') {
    return { type: 'integer', format: 'int32', minimum: 1, maximum: LARGEST_NUMBER };
  }
  if (format) return { $ref: `#/components/schemas/${FORMATS[format].name}` };
  const pattern = isTarget ? TARGET : SAYS_SOMETHING;
  return { type: 'string', minLength: 1, maxLength: LONGEST_TEXT, pattern };
}
