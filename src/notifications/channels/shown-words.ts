import { titleLine } from '../../incidents/title-text.js';
import { defang } from '../../triage/evidence/defang.js';
import type { Message, Words } from '../notification.js';

/** As much of a value as fits into what every target takes, also when each of its characters is escaped. */
const LONGEST_VALUE = 300;

/** What people see of a message. */
export interface ShownWords extends Words {
  /** All that matters in one line, for where there is no more: a lock screen, a subject. */
  readonly summary: string;
}

/**
 * The words as they may be shown to people: on one line each, without characters that nobody sees, and without an address that
 * somebody could follow by a click. They are still plain text: each type of channel escapes them for its target.
 */
export function shownWords({ severity, words }: Pick<Message, 'severity' | 'words'>): ShownWords {
  const headline = shown(words.headline);
  const facts = words.facts.map(({ name, value }) => ({ name, value: shown(value) }));
  // The first fact says what it is about, such as the title.
  const about = facts[0] ? ` - ${facts[0].value}` : '';
  const summary = `${severity ? `[${severity}] ` : ''}${headline}${about}`;
  return { headline, facts, request: words.request, url: words.url, summary };
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
