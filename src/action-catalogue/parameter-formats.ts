import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

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
