import tlds from 'tlds';
import { hasFormat } from '../action-catalogue/parameters.js';

/** Defanged spellings, which programs do not turn into links, with the plain text that replaces them. */
const DEFANGED: readonly (readonly [pattern: RegExp, plain: string])[] = [
  [/\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)|\{dot\}|[\u2024\u3002\uff0e\uff61]/gi, '.'],
  [/\[@\]|\(@\)|\{@\}|\[at\]|\(at\)|\{at\}/gi, '@'],
  [/\[:\]|\(:\)/g, ':'],
  [/\[:\/\/\]/g, '://'],
  [/\bhxxp(?=s?:\/\/)/gi, 'http'],
  [/\bfxp(?=:\/\/)/gi, 'ftp'],
];

export function refang(text: string): string {
  return DEFANGED.reduce((plain, [pattern, by]) => plain.replace(pattern, by), text);
}

/** Full stop between the labels of a host, and characters that programs read as a full stop or that look like one. */
const DOT = '[.\\u2024\\u3002\\u30fb\\uff0e\\uff61\\uff65]';
const DOTS = new RegExp(`${DOT}+`, 'u');

/** Run of characters that may be a host. The letters of a host include symbols: `i❤.ws` is a host. */
const WORD = new RegExp(
  `(?:[\\p{L}\\p{M}\\p{N}\\p{So}\\p{Emoji_Modifier}\\u200d_-]|${DOT})+`,
  'gu',
);

/** Makes addresses unclickable, such as `hxxps://evil[.]example`. Only for text that people read. */
export function defang(text: string): string {
  return text
    .replace(/\bhttp(?=s?:\/\/)/gi, 'hxxp')
    .replace(/\bftp(?=:\/\/)/gi, 'fxp')
    .replace(/(?<=[^\s@[])@(?=[\p{L}\p{N}])/gu, '[@]')
    .replace(WORD, (word) => (isAddress(word) ? word.replace(INNER_DOT, '[.]') : word));
}

/** Characters that chats read as the start of a mention: `@here`, `<!channel>`. */
const MENTION = /(?<!\[)@(?=[\p{L}\p{N}])|(?<=<)[!#&]/gu;

/** Defangs addresses and mentions. For third-party text in a ticket or chat that may format the text. */
export function defangForPeople(text: string): string {
  return defang(text).replace(MENTION, '[$&]');
}

const INNER_DOT = new RegExp(`${DOT}(?=[\\p{L}\\p{N}\\p{So}])`, 'gu');

function isAddress(word: string): boolean {
  const labels = word.split(DOTS).filter((label) => label !== '');
  if (labels.length < 2) return false;
  // Programs turn `evil.com_` into a link to evil.com, and text that starts with `www.` into a link to itself.
  const last = labels.at(-1)!.replace(/[_-].*$/s, '');
  return (
    looksLikeDomain(labels) ||
    looksLikeDomain([...labels.slice(0, -1), last]) ||
    /^www$/i.test(labels[0]!) ||
    hasFormat('ip', labels.join('.'))
  );
}

/** Top-level domains of IANA, of RFC 2606 and of private networks. */
const TOP_LEVEL = new Set([
  ...tlds,
  ...'arpa corp example home internal intern invalid lan local localdomain localhost onion test'.split(
    ' ',
  ),
]);

/** Checks only the last label. It must be a top-level domain, so `invoice.pdf` and `b.okafor` are no domains. */
export function looksLikeDomain(labels: readonly string[]): boolean {
  const last = labels.at(-1)!.toLowerCase();
  return labels.length >= 2 && (TOP_LEVEL.has(last) || /^xn--[a-z0-9]/.test(last));
}
