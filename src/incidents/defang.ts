import { hasFormat } from '../action-catalogue/parameter-formats.js';

/** Spellings by which people keep a dangerous address from being a link, each with what it stands for. */
const DEFANGED: readonly (readonly [pattern: RegExp, plain: string])[] = [
  [/\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)|\{dot\}|[\u2024\u3002\uff0e\uff61]/gi, '.'],
  [/\[@\]|\(@\)|\{@\}|\[at\]|\(at\)|\{at\}/gi, '@'],
  [/\[:\]|\(:\)/g, ':'],
  [/\[:\/\/\]/g, '://'],
  [/\bhxxp(?=s?:\/\/)/gi, 'http'],
  [/\bfxp(?=:\/\/)/gi, 'ftp'],
];

/** The text with addresses as programs read them. */
export function refang(text: string): string {
  return DEFANGED.reduce((plain, [pattern, by]) => plain.replace(pattern, by), text);
}

/** What stands for a dot in a host, or looks like one: the one dot leader, full stops of other scripts, katakana middle dots. */
const DOT = '[.\\u2024\\u3002\\u30fb\\uff0e\\uff61\\uff65]';
const DOTS = new RegExp(`${DOT}+`, 'u');

/** Letters of a host are signs, too: `i❤.ws` is one. */
const WORD = new RegExp(
  `(?:[\\p{L}\\p{M}\\p{N}\\p{So}\\p{Emoji_Modifier}\\u200d_-]|${DOT})+`,
  'gu',
);

/**
 * The text with addresses that nobody can follow by a click: `hxxps://evil[.]example`, `mallory[@]evil[.]example`. For what
 * people read in a timeline, a message or a ticket, never for what programs use.
 */
export function defang(text: string): string {
  return text
    .replace(/\bhttp(?=s?:\/\/)/gi, 'hxxp')
    .replace(/\bftp(?=:\/\/)/gi, 'fxp')
    .replace(/(?<=[^\s@[])@(?=[\p{L}\p{N}])/gu, '[@]')
    .replace(WORD, (word) => (isAddress(word) ? word.replace(INNER_DOT, '[.]') : word));
}

/** The dot at the end of a sentence stays. */
const INNER_DOT = new RegExp(`${DOT}(?=[\\p{L}\\p{N}\\p{So}])`, 'gu');

function isAddress(word: string): boolean {
  const labels = word.split(DOTS).filter((label) => label !== '');
  if (labels.length < 2) return false;
  // What programs make links of: `evil.com_` leads to evil.com, and what begins with `www.` to itself, whatever its end.
  const last = labels.at(-1)!.replace(/[_-].*$/s, '');
  return (
    looksLikeDomain(labels) ||
    looksLikeDomain([...labels.slice(0, -1), last]) ||
    /^www$/i.test(labels[0]!) ||
    hasFormat('ip', labels.join('.'))
  );
}

/** Ends of names of files that are no top-level domains, so that `invoice.pdf` is not taken for a domain. */
const FILE_ENDINGS = new Set(
  (
    '7z asp aspx bak bat bin bmp cfg cmd cpl csv dat dll dmg dmp doc docm docx eml exe gif gz hta htm html img ini iso jar jpeg ' +
    'jpg js json jsp lnk log msg msi ocx pdb pdf php png ppt pptm pptx ps1 psm1 rar rtf scr sct svg swf sys tar tmp ts txt vbe vbs wsf xhtml ' +
    'vhd vhdx xls xlsb xlsm xlsx xll xml yaml yml'
  ).split(' '),
);

/** By its last label; whether it is a well-formed domain is another question. */
export function looksLikeDomain(labels: readonly string[]): boolean {
  const last = labels.at(-1)!.toLowerCase();
  if (labels.length < 2 || FILE_ENDINGS.has(last)) return false;
  return /^(?:\p{L}[\p{L}\p{M}]{1,23}|xn--[a-z0-9-]{1,59})$/u.test(last);
}
