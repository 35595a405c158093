import { hasFormat } from '../action-catalogue/parameters.js';

/** Defanged spellings, which programs do not show as links, with the plain text. */
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

/** Dots in a host and similar characters: one dot leader, full stops of other scripts, katakana middle dots. */
const DOT = '[.\\u2024\\u3002\\u30fb\\uff0e\\uff61\\uff65]';
const DOTS = new RegExp(`${DOT}+`, 'u');

/** Letters of a host include symbols: `i❤.ws` is a host. */
const WORD = new RegExp(
  `(?:[\\p{L}\\p{M}\\p{N}\\p{So}\\p{Emoji_Modifier}\\u200d_-]|${DOT})+`,
  'gu',
);

/**
 * Makes addresses unclickable: `hxxps://evil[.]example`, `mallory[@]evil[.]example`. Only for text that people read, in a
 * timeline, message or ticket.
 */
export function defang(text: string): string {
  return text
    .replace(/\bhttp(?=s?:\/\/)/gi, 'hxxp')
    .replace(/\bftp(?=:\/\/)/gi, 'fxp')
    .replace(/(?<=[^\s@[])@(?=[\p{L}\p{N}])/gu, '[@]')
    .replace(WORD, (word) => (isAddress(word) ? word.replace(INNER_DOT, '[.]') : word));
}

/** Chats read `@here` and `<!channel>` as mentions. */
const MENTION = /(?<!\[)@(?=[\p{L}\p{N}])|(?<=<)[!#&]/gu;

/** Defangs addresses and mentions. For third-party text in a ticket or chat, which may format the text. */
export function defangForPeople(text: string): string {
  return defang(text).replace(MENTION, '[$&]');
}

/** Excludes the dot at the end of a sentence. */
const INNER_DOT = new RegExp(`${DOT}(?=[\\p{L}\\p{N}\\p{So}])`, 'gu');

function isAddress(word: string): boolean {
  const labels = word.split(DOTS).filter((label) => label !== '');
  if (labels.length < 2) return false;
  // Programs make links of these labels: `evil.com_` links to evil.com, and text with `www.` at the beginning links to itself.
  const last = labels.at(-1)!.replace(/[_-].*$/s, '');
  return (
    looksLikeDomain(labels) ||
    looksLikeDomain([...labels.slice(0, -1), last]) ||
    /^www$/i.test(labels[0]!) ||
    hasFormat('ip', labels.join('.'))
  );
}

/** File extensions that are not top-level domains, so that `invoice.pdf` is not a domain. */
const FILE_ENDINGS = new Set(
  (
    '7z asp aspx bak bat bin bmp cfg cmd cpl csv dat dll dmg dmp doc docm docx eml exe gif gz hta htm html img ini iso jar jpeg ' +
    'jpg js json jsp lnk log msg msi ocx pdb pdf php png ppt pptm pptx ps1 psm1 rar rtf scr sct svg swf sys tar tmp ts txt vbe vbs wsf xhtml ' +
    'vhd vhdx xls xlsb xlsm xlsx xll xml yaml yml'
  ).split(' '),
);

/** Checks only the last label. The domain may be malformed. */
export function looksLikeDomain(labels: readonly string[]): boolean {
  const last = labels.at(-1)!.toLowerCase();
  if (labels.length < 2 || FILE_ENDINGS.has(last)) return false;
  return /^(?:\p{L}[\p{L}\p{M}]{1,23}|xn--[a-z0-9-]{1,59})$/u.test(last);
}
