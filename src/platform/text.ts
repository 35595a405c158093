/** PostgreSQL stores no NUL and no half of a surrogate pair, and no answer or log should hold one. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}

const LONGEST_NAME = 100;

/** A name that a stranger chose, as it is told back: long enough to be found again. */
export function shownName(name: string): string {
  return shownStart(name, LONGEST_NAME);
}

/** The beginning of what somebody sent, to be shown: storable, also where the cut goes through a character. */
export function shownStart(text: string, length: number): string {
  return storable(text.slice(0, length));
}
