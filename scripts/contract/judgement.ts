/** A change as oasdiff tells it. */
export interface Change {
  readonly id: string;
  readonly text: string;
  /** 3 is an error: it breaks clients. What is less is for people who read. */
  readonly level: number;
  readonly operation?: string;
  readonly path?: string;
}

/** Changes that somebody has judged, of one kind. */
export interface Accepted {
  readonly change: string;
  /** A regular expression on `METHOD /path: text`; without it all changes of this kind are meant. */
  readonly where?: string;
  readonly reason: string;
}

const BREAKS = 3;

/** What is to be told: changes that nobody accepted with a reason, and what was accepted and is not there. */
export function problemsOf(changes: readonly Change[], accepted: readonly Accepted[]): string[] {
  const breaking = changes.filter(({ level }) => level >= BREAKS);
  const means = ({ change, where = '', reason }: Accepted, { id, ...rest }: Change): boolean =>
    reason.trim() !== '' && change === id && new RegExp(where).test(placeOf(rest));
  const open = breaking.filter((change) => !accepted.some((entry) => means(entry, change)));
  const idle = accepted.filter((entry) => !breaking.some((change) => means(entry, change)));
  return [
    ...new Set(open.map(({ id, ...rest }) => `breaks clients: [${id}] ${placeOf(rest)}`)),
    ...idle.map(({ change, where = '' }) => `accepted but not there: [${change}] ${where}`.trim()),
  ];
}

function placeOf({ operation, path, text }: Omit<Change, 'id'>): string {
  return operation ? `${operation} ${path}: ${text}` : text;
}
