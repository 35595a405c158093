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

/** `standard` keys have the configured limits. `integration` keys are for programs that write much, such as a SOAR. */
export const KEY_LIMIT_CLASSES = ['standard', 'integration'] as const;
export type KeyLimitClass = (typeof KEY_LIMIT_CLASSES)[number];

/** Checks in each transaction that its key or session is still valid, so that no write relies on a cached check. */
export interface Caller extends Participant {
  /** Name of the principal in records: a user name, `key:<name>`, … The name is never reused for another principal. */
  readonly name: string;
  /** Role for display only. Guards check the permissions. */
  readonly role: Role;
  /** Session of a person; undefined for a key. */
  readonly sessionId?: string;
  readonly limit_class?: KeyLimitClass;
  /** Limits of this key per minute, instead of the limits of its class. */
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
  /** Required: a copy of the caller without `begin` would let a revoked key write, so it must not compile. */
  begin(tx: Tx): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The unread body. RequestGuard decides when to read it. */
    arriving?: ArrivingBody;
    received?: Buffer;
    /** Defect in the content of a readable body. It is reported after the role is checked. */
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
