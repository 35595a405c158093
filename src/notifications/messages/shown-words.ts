import { titleLine } from '../../incidents/raw-data-text.js';
import { defang } from '../../incidents/defang.js';
import type { Message, Words } from '../notification.js';

/** As much of a value as fits into what every target takes, also when each of its characters is escaped. */
const LONGEST_VALUE = 300;

/** What people see of a message. The headline has all that matters in one line, as for a lock screen or a subject. */
type ShownWords = Omit<Words, 'about'>;

/**
 * The words as they may be shown to people: on one line each, without characters that nobody sees, and without an address that
 * somebody could follow by a click. They are still plain text: each type of channel escapes them for its target.
 */
export function shownWords({ severity, words }: Pick<Message, 'severity' | 'words'>): ShownWords {
  const about = words.about ? ` - ${shown(words.about)}` : '';
  const headline = `${severity ? `[${severity}] ` : ''}${shown(words.headline)}${about}`;
  const facts = words.facts.map(({ name, value }) => ({ name, value: shown(value) }));
  return { headline, facts, request: words.request, url: words.url };
}

/** The link of a message, where there is one. */
export const LINK_TEXT = 'Open in the triage service';

function shown(text: string): string {
  return withoutLinks(defang(titleLine(text, LONGEST_VALUE) ?? '(nothing that can be shown)'));
}

/** What programs make links of besides addresses with a dot: `file://server`, and `\\server\share`, where Windows would log in. */
function withoutLinks(text: string): string {
  return text
    .replace(/(?<!\bhxxps?|\bfxp):\/\//gi, '[://]')
    .replace(/\\\\(?=[^\s\\])/g, String.raw`\[\]`);
}
