import { newId } from '../../ids.js';
import { requireBounded } from '../bounded-json.js';

export interface EventSubject {
  /** Such as `incident`. */
  readonly type: string;
  readonly id: string;
}

/** Something that happened, told in the past tense: `incident.triaged`. */
export interface DomainEvent<P extends object = object> {
  readonly id: string;
  readonly type: string;
  readonly subject: EventSubject;
  readonly payload: P;
  readonly occurredAt: Date;
}

/**
 * What the one who changed something says about it. The payload is small and holds no secrets: it is copied into the
 * job of each handler, and kept for weeks when one of them fails for good.
 */
export type NewEvent<P extends object = object> = Pick<
  DomainEvent<P>,
  'type' | 'subject' | 'payload'
>;

export const LARGEST_PAYLOAD_BYTES = 16 * 1024;

export function eventOf<P extends object>(
  { type, subject, payload }: NewEvent<P>,
  now: Date,
): DomainEvent<P> {
  requireBounded(`The payload of ${type}`, payload, LARGEST_PAYLOAD_BYTES);
  return { id: newId(now.getTime()), type, subject, payload, occurredAt: now };
}
