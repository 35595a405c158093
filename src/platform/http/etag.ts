import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors/app-error.js';

/** `*` matches any version, a list matches its entity tags, and `undefined` means that there is no condition. */
export type IfMatchCondition = '*' | readonly string[] | undefined;

const ENTITY_TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const LIST = new RegExp(`^[ \\t,]*${ENTITY_TAG}(?:[ \\t]*,[ \\t,]*${ENTITY_TAG})*[ \\t,]*$`);
const ONE = new RegExp(ENTITY_TAG, 'g');

/** Version of a resource. It includes the id if another resource can later get the same name and URL. */
export type Revision = number | `${string}-${number}`;

/** Returns the strong tag of a version. */
export const etagOf = (revision: Revision): string => `"${revision}"`;

export function setEtag(reply: FastifyReply, revision: Revision): void {
  void reply.header('etag', etagOf(revision));
}

/** Keeps weak tags in the list. They match nothing (RFC 9110). */
export function parseIfMatch(header: string | undefined): IfMatchCondition {
  const value = header?.trim();
  if (value === undefined || value === '*') return value;
  if (LIST.test(value)) return value.match(ONE) ?? [];
  throw new AppError('bad_request', 'If-Match must be * or a list of quoted entity tags.');
}

export function isMatch(condition: IfMatchCondition, revision: Revision): boolean {
  return condition === undefined || condition === '*' || condition.includes(etagOf(revision));
}

/** Returns the newest version in If-Match, or `undefined` if no entity tag ends with a version. */
export function knownVersion(condition: IfMatchCondition): number | undefined {
  if (condition === undefined || condition === '*') return undefined;
  const versions = condition.flatMap((tag) => /(\d{1,15})"$/.exec(tag)?.[1] ?? []).map(Number);
  return versions.length > 0 ? Math.max(...versions) : undefined;
}

interface Difference {
  readonly changed_by?: string;
  readonly changed_at: string;
  readonly fields: readonly string[];
  readonly current: Readonly<Record<string, unknown>>;
}

export class PreconditionFailedError extends AppError {
  constructor(revision: Revision, difference?: Difference) {
    const etag = etagOf(revision);
    super('precondition_failed', `The resource has changed: its ETag is now ${etag}.`, {
      headers: { etag },
      details: difference && { ...difference, etag },
    });
  }
}

/** Must be called in the transaction of the change, after the row was locked. */
export function requireMatch(condition: IfMatchCondition, revision: Revision): void {
  if (!isMatch(condition, revision)) throw new PreconditionFailedError(revision);
}

export const IfMatch = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseIfMatch(context.switchToHttp().getRequest<FastifyRequest>().headers['if-match']),
);
