import type { FastifyRequest } from 'fastify';

/** Whether a browser's form sent it, so that a person reads the answer. */
export function isForm(request: FastifyRequest): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
}

export function field(from: unknown, name: string): string | undefined {
  if (typeof from !== 'object' || from === null) return undefined;
  const value: unknown = (from as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}

/** The form's own field, else the query's: so a link to /login?next=… keeps its aim through a failed attempt. */
export function nextOf(request: FastifyRequest): string | undefined {
  return field(request.body, 'next') ?? field(request.query, 'next');
}
