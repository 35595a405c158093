import { nfkc } from '../platform/text.js';

/**
 * What names that people take for the same have in common: `soc`, `SOC`, `soc.` and `ｓｏｃ`. Messages and metrics know a channel by
 * its name alone, so there is one of them.
 */
export function nameKey(name: string): string {
  const key = nfkc(name)
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
    .toLowerCase()
    .replace(/[\s.]+$/, '');
  return key === '' ? name : key;
}
