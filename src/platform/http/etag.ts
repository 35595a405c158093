import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors/app-error.js';

/** What If-Match asks for: any version, or one of these. Absent, nothing is asked. */
export type IfMatchCondition = '*' | readonly string[] | undefined;

const ENTITY_TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const LIST = new RegExp(`^[ \\t,]*${ENTITY_TAG}(?:[ \\t]*,[ \\t,]*${ENTITY_TAG})*[ \\t,]*$`);
const ONE = new RegExp(ENTITY_TAG, 'g');

/**
 * What one address shows at one time: the number of its version. Where an address may show one resource today and another
 * one tomorrow, because names can be given again, the id is in it, too.
 */
export type Revision = number | `${string}-${number}`;

/** A strong tag: it changes with every change of the resource, and with nothing else. */
export function etagOf(revision: Revision): string {
  return `"${revision}"`;
}

export function setEtag(reply: FastifyReply, revision: Revision): void {
  void reply.header('etag', etagOf(revision));
}

/** Weak tags stay in the list and match nothing, as RFC 9110 has it for If-Match. */
export function parseIfMatch(header: string | undefined): IfMatchCondition {
  if (header === undefined) return undefined;
  const value = header.trim();
  if (value === '*') return '*';
  if (!LIST.test(value)) {
    throw new AppError('bad_request', 'If-Match must be * or a list of quoted entity tags.');
  }
  return value.match(ONE) ?? [];
}

export function isMatch(condition: IfMatchCondition, revision: Revision): boolean {
  return condition === undefined || condition === '*' || condition.includes(etagOf(revision));
}

/** The newest version that If-Match names; undefined if no entity tag ends with a version. */
export function knownVersion(condition: IfMatchCondition): number | undefined {
  if (condition === undefined || condition === '*') return undefined;
  const versions = condition.flatMap((tag) => /(\d{1,15})"$/.exec(tag)?.[1] ?? []).map(Number);
  return versions.length > 0 ? Math.max(...versions) : undefined;
}

/** How the resource differs from the version that the caller knows. */
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

/** Called inside the transaction of the change, after the row was locked: the revision must not be able to move. */
export function requireMatch(condition: IfMatchCondition, revision: Revision): void {
  if (!isMatch(condition, revision)) throw new PreconditionFailedError(revision);
}

/** The condition under which a PUT or DELETE may take place. */
export const IfMatch = createParamDecorator(
  (_: unknown, context: ExecutionContext): IfMatchCondition =>
    parseIfMatch(context.switchToHttp().getRequest<FastifyRequest>().headers['if-match']),
);
