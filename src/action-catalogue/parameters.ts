import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { shownName } from '../platform/text.js';

export interface ActionParameter {
  readonly name: string;
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly values?: readonly string[];
  readonly format?: ParameterFormat;
  /** True if people read the text. Templates insert such text without links. */
  readonly forPeople?: true;
}

export const LONGEST_TEXT = 4_096;
/** Largest integer that a client in any language can read (signed 32 bits). */
export const LARGEST_NUMBER = 2_147_483_647;

export const LONGEST_DOMAIN = 253;
const DOMAIN = /^((?!-)[a-z0-9_-]{1,63}(?<!-)\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const LOCAL_PART = /^[^\s\p{C}@"(),:;<>[\]\\]{1,64}$/u;
const URL_TEXT = /^https?:\/\/[^\s\p{C}]+$/iu;

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
  readonly words: string;
  readonly check: (text: string) => boolean;
}

/**
 * Formats that the service checks, because it must recognize protected targets. Vendors check all other parameters. The schemas
 * of the formats are in scripts/contract/actions.ts.
 */
export const FORMATS = {
  ip: {
    words: 'an IPv4 or IPv6 address, without prefix length or zone',
    check: (text) => isIP(text) !== 0 && !text.includes('%'),
  },
  domain: {
    words: 'a domain name of two or more labels in ASCII, such as evil.example',
    check: isDomain,
  },
  url: {
    words: 'a whole http or https address without spaces',
    check: (text) => URL_TEXT.test(text) && URL.canParse(text),
  },
  email: {
    words: 'one email address without a name around it, such as mallory@evil.example',
    check: (text) => {
      const at = text.lastIndexOf('@');
      return at > 0 && LOCAL_PART.test(text.slice(0, at)) && isDomain(text.slice(at + 1));
    },
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

interface Parameterised {
  readonly name: string;
  readonly parameters: readonly ActionParameter[];
  readonly target?: { readonly parameter: string };
}

type Given = Readonly<Record<string, unknown>>;

const MOST_UNKNOWN = 100;

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
const IN_BRACKETS = /<([^<>]*)>$/;

/** Returns the single address of a mail header in a form that is equal for all its spellings; otherwise `undefined`. */
export function mailAddressIn(header: string): string | undefined {
  const text = header.replace(COMMENTS, '').trim();
  const address = (IN_BRACKETS.exec(text)?.[1] ?? text).trim();
  const at = address.lastIndexOf('@');
  const encoded = `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`.toLowerCase();
  return at > 0 && hasFormat('email', encoded) ? encoded : undefined;
}
