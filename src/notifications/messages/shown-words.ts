import { titleLine } from '../../incidents/raw-data-text.js';
import { defang } from '../../incidents/defang.js';
import type { Message, Words } from '../notification.js';

/** Every receiver accepts values of this length, also if each character is escaped. */
const MAX_VALUE = 300;

/** Text of a message for people. The headline is complete, as for a lock screen or a subject. */
export type ShownWords = Omit<Words, 'about'>;

/**
 * Makes text of third parties harmless: one line each, without invisible characters and clickable addresses. The result is plain
 * text, which each channel type escapes for its receiver.
 */
export function shownWords({ severity, words }: Pick<Message, 'severity' | 'words'>): ShownWords {
  const about = words.about ? ` - ${shown(words.about)}` : '';
  const headline = `${severity ? `[${severity}] ` : ''}${shown(words.headline)}${about}`;
  const facts = words.facts.map(({ name, value }) => ({ name, value: shown(value) }));
  return { headline, facts, request: words.request, url: words.url };
}

/** Text of the link in messages. */
export const LINK_TEXT = 'Open in the triage service';

function shown(text: string): string {
  return withoutLinks(defang(titleLine(text, MAX_VALUE) ?? '(nothing that can be shown)'));
}

/** Programs also make links of `file://server`, and of `\\server\share`, where Windows would log in. */
function withoutLinks(text: string): string {
  return text
    .replace(/(?<!\bhxxps?|\bfxp):\/\//gi, '[://]')
    .replace(/\\\\(?=[^\s\\])/g, String.raw`\[\]`);
}
