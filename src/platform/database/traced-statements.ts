import type { QueryConfig } from 'pg';
import { beginSpan, presentSpan, type Span } from '../tracing/tracing.js';

/**
 * A statement that waits for a free connection is sent by whoever gives one back, within the trace of that one. So it brings
 * along whom it is for.
 */
export interface TracedQuery extends QueryConfig<unknown[]> {
  readonly span?: Span | undefined;
}

/** The operation, such as `select`; the whole text goes with it. */
const FIRST_WORD = /^\s*([a-z]{1,20})\b/i;

/**
 * A span for a statement of a request or a job, with its placeholders and without the values. Undefined for what loops ask on
 * their own: they look several times a second.
 */
export function beginStatement(given: unknown): Span | undefined {
  const isText = typeof given === 'string';
  const { text, name, span } = (isText ? { text: given } : (given ?? {})) as Partial<TracedQuery>;
  const parent = span ?? presentSpan();
  // What submits itself, such as a copy, tells nobody when it ends.
  if (!parent || typeof text !== 'string' || (!isText && 'submit' in (given as object))) {
    return undefined;
  }
  const operation = FIRST_WORD.exec(text)?.[1]?.toLowerCase();
  return beginSpan(
    {
      name: name ?? operation ?? 'statement',
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.query.text': text,
      },
    },
    parent,
  );
}
