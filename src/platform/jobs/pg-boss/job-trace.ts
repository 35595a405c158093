import { presentSpan } from '../../tracing/tracing.js';

/** Beside the data of the job, in which no queue has a field of this name. */
const KEY = 'traceparent';

/** The data as the queue keeps it: with the span that enqueues it, where there is one. */
export function withTrace<Data extends object>(data: Data): Data {
  const span = presentSpan();
  return span ? { ...data, [KEY]: span.traceparent } : data;
}

/** The data as it was given, and the span that it came from. A job of before may have one although nobody traces now. */
export function withoutTrace(stored: object): { readonly data: object; readonly links: string[] } {
  if (!(KEY in stored)) return { data: stored, links: [] };
  const { [KEY]: link, ...data } = stored;
  return { data, links: typeof link === 'string' ? [link] : [] };
}
