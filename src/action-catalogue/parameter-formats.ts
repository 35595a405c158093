import { isIP } from 'node:net';

/**
 * The formats that are checked: those in which a protected target must be recognised. What any other parameter has to look
 * like is for the vendor to judge.
 */
export const PARAMETER_FORMATS = ['ip', 'domain', 'url', 'email'] as const;
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number];

/** As people read it: in the message of a refusal, and in the contract. */
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

/** Whether the text is that and nothing else, so that the vendor cannot read another target in it than we did. */
export function hasFormat(format: ParameterFormat, text: string): boolean {
  return CHECKS[format](text);
}

function isDomain(text: string): boolean {
  return text.length <= LONGEST_DOMAIN && DOMAIN.test(text) && URL.canParse(`http://${text}`);
}
