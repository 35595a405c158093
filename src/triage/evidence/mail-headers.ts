import { parsePointer } from '../../platform/json-pointer.js';
import { plainName, type RawText } from './raw-values.js';

/** Under these names data has the head of a mail, or the whole mail. */
const HEADS = new Set([
  'head',
  'header',
  'headers',
  'rawheaders',
  'fullheaders',
  'mailheaders',
  'emailheaders',
  'messageheaders',
  'internetheaders',
  'internetmessageheaders',
  'originalheaders',
  'mimeheaders',
  'rawmessage',
  'rawmail',
  'rawemail',
  'eml',
  'mime',
]);
const WANTED = new Set(['authenticationresults', 'receivedspf', 'from', 'returnpath', 'replyto']);
const MOST_LINES = 1_000;
const MOST_HEADS = 1_000;
const LONGEST_HEAD = 131_072;

/** Whether a key names the head of a mail. */
export function isHead(key: string): boolean {
  return HEADS.has(plainName(key));
}

/** Whether a value stands in the head of a mail, where also its sender writes. */
export function isInHead(pointer: string): boolean {
  const names = parsePointer(pointer)?.flatMap((step) => step.split('.', MOST_LINES));
  return names?.some(isHead) ?? false;
}

interface Line {
  readonly pointer: string;
  readonly text: string;
}

/**
 * The headers that are written out as text, from the top, as if each were a field: of a head in one text, of a list of lines,
 * and of a list of pairs. Headers that are fields of an object, or a list of `{name, value}`, are fields already.
 */
export function writtenHeaders(texts: readonly RawText[]): readonly RawText[] {
  const heads = new Map<string, RawText[]>();
  for (const text of texts) {
    if (!HEADS.has(text.name)) continue;
    const list = /^(.*)\/\d+$/.exec(text.pointer)?.[1] ?? text.pointer;
    const known = heads.get(list);
    if (!known) {
      if (heads.size < MOST_HEADS) heads.set(list, [text]);
    } else if (known.length < MOST_LINES) known.push(text);
  }
  return [...heads.values()].flatMap(headersIn);
}

function headersIn(head: readonly RawText[]): RawText[] {
  const [name, value] = head;
  if (head.length === 2 && value && /^[\w-]{1,64}$/.test(name!.value)) {
    return wanted({ pointer: value.pointer, text: `${name!.value}: ${value.value}` });
  }
  const lines = linesOf(head);
  const isOneLine = lines.length === 1;
  return isOneLine ? inOneLine(lines[0]!) : unfolded(lines).flatMap(wanted);
}

function linesOf(head: readonly RawText[]): Line[] {
  const lines: Line[] = [];
  let left = LONGEST_HEAD;
  for (const { pointer, value } of head) {
    const written = value.slice(0, left).replace(/\r?\n$/, '');
    left -= written.length;
    for (const text of written.split(/\r?\n/, MOST_LINES)) {
      if (lines.length >= MOST_LINES || left < 0) return lines;
      // The text of the mail begins at the first blank line.
      if (text === '' && lines.length > 0) return lines;
      lines.push({ pointer, text });
    }
  }
  return lines;
}

/** A header goes on in the next line when that begins with a blank. */
function unfolded(lines: readonly Line[]): Line[] {
  const whole: { pointer: string; parts: string[] }[] = [];
  for (const { pointer, text } of lines) {
    const last = whole.at(-1);
    if (last && /^[ \t]/.test(text)) last.parts.push(text);
    else whole.push({ pointer, parts: [text] });
  }
  return whole.map(({ pointer, parts }) => ({ pointer, text: parts.join('') }));
}

const NEXT_HEADER =
  /\s(?=(?:[A-Za-z]{1,30}(?:-[A-Za-z0-9]{1,30}){1,5}|From|To|Cc|Date|Subject|Received|Sender):\s)/;

/**
 * A head whose ends of lines are lost. Nobody can tell a header from words of the subject there, so there is no topmost one: what
 * all of one name say is read together, and the worst of it counts.
 */
function inOneLine({ pointer, text }: Line): RawText[] {
  const byName = new Map<string, RawText>();
  for (const part of text.split(NEXT_HEADER, MOST_LINES)) {
    for (const header of wanted({ pointer, text: part })) {
      const known = byName.get(header.name);
      const value = known ? `${known.value}; ${header.value}` : header.value;
      byName.set(header.name, { ...header, value });
    }
  }
  return [...byName.values()];
}

function wanted({ pointer, text }: Line): RawText[] {
  const colon = text.indexOf(':');
  const name = plainName(text.slice(0, Math.max(0, colon)));
  return WANTED.has(name)
    ? [{ name, owner: 'headers', pointer, value: text.slice(colon + 1).trim() }]
    : [];
}
