import type { FastifyRequest } from 'fastify';
import type { Role } from '../access/roles.js';
import type { Participant, Tx } from '../database/transactions.js';
import type { AppError } from '../errors/app-error.js';
import type { ArrivingBody } from './arriving-body.js';
import type { Span } from '../tracing/tracing.js';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export type LimitClass = 'read' | 'write' | 'triage';

/** `standard`: the configured limits. `integration`: for programs that write much, such as a SOAR. */
export const KEY_LIMIT_CLASSES = ['standard', 'integration'] as const;
export type KeyLimitClass = (typeof KEY_LIMIT_CLASSES)[number];

/**
 * Part of the principal that the platform needs. As a participant of a transaction, it checks there that the key or session is
 * still valid, so that no write relies on a cached check.
 */
export interface Caller extends Participant {
  /** The principal name as records show it: a user name, `key:<name>`, … Never reused for another principal. */
  readonly name: string;
  /** For display only. Guards check the permissions. */
  readonly role: Role;
  /** Session of a person; undefined for a key. */
  readonly sessionId?: string;
  readonly limit_class?: KeyLimitClass;
  /** Limits of this key per minute, instead of the limits of its class. */
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  /** Required, so that a copy without it does not compile: otherwise a revoked key could still write. */
  begin(tx: Tx): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The unread body. RequestGuard decides when to read it. */
    arriving?: ArrivingBody;
    /** The bytes of the body, after they were read. */
    received?: Buffer;
    /** Defect in the content of a readable body, reported after the check of the role. */
    contentProblem?: AppError | undefined;
    caller?: Caller;
    failure?: AppError;
    /** The id of the created or changed resource, if the path does not contain one. */
    answeredId?: string;
    span?: Span;
    completeAnswer?: (answer: Answer) => Promise<Answer>;
  }
}

export type { FastifyRequest };
