import { shownStart, storable } from '../../../platform/text.js';

const LONGEST_SUMMARY = 255;
const LINE_ENDS = /\r\n|[\r\n\u0085\u2028\u2029]/;
/** Tabs too: a line of text has none of them. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Jira refuses a longer summary, and one with line breaks. */
export function summaryOf(title: string): string {
  const line = storable(title).replace(CONTROLS, ' ').trim();
  if (line.length <= LONGEST_SUMMARY) return line;
  // Half of a surrogate pair at the cut becomes one character as well.
  return `${shownStart(line, LONGEST_SUMMARY - 1)}…`;
}

/**
 * A text as a document (ADF): a paragraph for each line. Text nodes hold nothing but text: a link, a mention or a panel
 * would be a node of its own, so that no sign in a text makes one.
 * https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
 */
export function documentOf(text: string): object {
  const content = storable(text)
    .split(LINE_ENDS)
    .map((line) => line.replace(CONTROLS, ' '))
    .map((line) => ({
      type: 'paragraph',
      // An empty text node is invalid; an empty paragraph is not.
      content: line === '' ? [] : [{ type: 'text', text: line }],
    }));
  return { type: 'doc', version: 1, content };
}
