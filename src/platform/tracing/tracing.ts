import { AsyncLocalStorage } from 'node:async_hooks';

/** Tracing interface of the service. If there is no tracer, each call costs one comparison. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface Work {
  readonly name: string;
  /** `server` (incoming request) and `consumer` (work from a queue) begin a trace or continue the trace of the caller. */
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  /** Must not contain bodies, secrets or free text of callers: more people can read traces than the database. */
  readonly attributes?: Attributes;
  /** `traceparent` header of the caller. A malformed header is ignored. */
  readonly traceparent?: string | undefined;
  /** `traceparent` of related spans that are not the parent. */
  readonly links?: readonly string[];
}

export interface Span {
  readonly traceId: string;
  /** `traceparent` header for the next service, so that it continues the trace. */
  readonly traceparent: string;
  readonly isOver: boolean;
  rename(name: string): void;
  note(attributes: Attributes): void;
  /** Ends the span. `failure` is only a code, because messages may contain values. Further calls have no effect. */
  end(failure?: string): void;
}

const TRACEPARENT =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** Returns the trace id of a caller's `traceparent` header, for the log of a site without a collector. */
export function traceIdIn(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}

type Tracer = (work: Work, parent: Span | undefined) => Span;

const spans = new AsyncLocalStorage<Span | undefined>();
let tracer: Tracer | undefined;

export function traceWith(one: Tracer | undefined): void {
  tracer = one;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Returns the current span; `undefined` after its end, because later work is not part of the trace of a request. */
export function presentSpan(): Span | undefined {
  const present = tracer && spans.getStore();
  return present?.isOver ? undefined : present;
}

export function beginSpan(work: Work, parent = presentSpan()): Span | undefined {
  const isOnItsOwn = work.kind === 'server' || work.kind === 'consumer';
  return tracer?.(work, isOnItsOwn ? undefined : parent);
}

export function inSpan<T>(span: Span | undefined, run: () => T): T {
  return tracer ? spans.run(span, run) : run();
}

/** Calls `run` outside any trace. For loops that a request wakes but that process the work of all requests. */
export function outsideTraces<T>(run: () => T): T {
  return inSpan(undefined, run);
}

/** Runs `run` in a span. `work` is a function, so that it costs nothing if there is no tracer. */
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

/** Returns a code such as `not_found`, `23505` or `ECONNREFUSED`. Without a code, returns the name of the error. */
export function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  const said = [code, name].find((one) => typeof one === 'string' && CODE.test(one));
  return typeof said === 'string' ? said : 'unknown';
}
