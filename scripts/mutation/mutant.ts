/** One fault put into one file. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** What kind of fault it is, such as `comparison` or `sql: dropped condition`. */
  readonly operator: string;
  /** The changed lines as they were and as they are now, in one line each. */
  readonly before: string;
  readonly after: string;
  /** The whole file with the fault in it. */
  readonly text: string;
}

/** A piece of a file and what takes its place. */
export interface Edit {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export function mutantOf(file: string, source: string, edit: Edit): Mutant {
  const { operator, start, end, replacement } = edit;
  const lineStart = source.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = source.indexOf('\n', end) < 0 ? source.length : source.indexOf('\n', end);
  const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
  return {
    file,
    line: source.slice(0, start).split('\n').length,
    operator,
    before: oneLine(source.slice(lineStart, lineEnd)),
    after: oneLine(source.slice(lineStart, start) + replacement + source.slice(end, lineEnd)),
    text: source.slice(0, start) + replacement + source.slice(end),
  };
}
