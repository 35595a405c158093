/**
 * What the service knows of traces. A span tells of one piece of work; work that begins within it becomes its child. Who
 * carries spans away is said by `traceWith` (see start-tracing.ts). As long as nobody does, all of this costs a comparison.
 */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface Work {
  readonly name: string;
  /**
   * `server`: somebody asks us. `consumer`: it waited in a queue. Both begin a trace of their own, or go on with the caller's.
   * `client`: we ask somebody.
   */
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  /** No bodies, no secrets, no values that a caller chose freely: a trace is read by more people than the database. */
  readonly attributes?: Attributes;
  /** The header by which a caller outside names its own span; one that is not well formed counts as none. */
  readonly traceparent?: string | undefined;
  /** Headers of the same form: spans that it has to do with, and of which it is no child. */
  readonly links?: readonly string[];
}

export interface Span {
  readonly traceId: string;
  /** By which whoever is asked next finds this span. */
  readonly traceparent: string;
  readonly isOver: boolean;
  rename(name: string): void;
  note(attributes: Attributes): void;
  /** A failure is told by its code alone: messages may hold values. Only the first call counts. */
  end(failure?: string): void;
}

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** Trace id of a caller's `traceparent` header, for the log of a site that collects no traces itself. */
export function traceIdIn(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}

export interface Tracer {
  /** The span within which the caller runs. */
  readonly present: Span | undefined;
  begin(work: Work, parent: Span | undefined): Span;
  inSpan<T>(span: Span | undefined, run: () => T): T;
}

let tracer: Tracer | undefined;

export function traceWith(one: Tracer | undefined): void {
  tracer = one;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Undefined once the span has ended: work left over from a request is not part of its trace. */
export function presentSpan(): Span | undefined {
  const present = tracer?.present;
  return present?.isOver ? undefined : present;
}

export function beginSpan(work: Work, parent = presentSpan()): Span | undefined {
  const isOnItsOwn = work.kind === 'server' || work.kind === 'consumer';
  return tracer?.begin(work, isOnItsOwn ? undefined : parent);
}

export function inSpan<T>(span: Span | undefined, run: () => T): T {
  return tracer ? tracer.inSpan(span, run) : run();
}

/** For loops that a request may wake, and that then work for everybody. */
export function outsideTraces<T>(run: () => T): T {
  return inSpan(undefined, run);
}

/** `work` is a function, so that nothing is put together for a trace that nobody wants. */
export async function traced<T>(
  work: () => Work,
  run: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = tracer && beginSpan(work());
  if (!span) return await run(undefined);
  try {
    const result = await inSpan(span, () => run(span));
    span.end();
    return result;
  } catch (error) {
    span.end(codeOf(error));
    throw error;
  }
}

const CODE = /^\w{1,64}$/;

/** By its code, such as `not_found`, `23505` or `ECONNREFUSED`, else by its name. */
export function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const said = [code, name].find((one) => typeof one === 'string' && CODE.test(one));
  return typeof said === 'string' ? said : 'unknown';
}
