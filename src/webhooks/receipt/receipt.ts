import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import type { SettlingProgress, WebhookEventEntity } from '../events/webhook-event.entity.js';
import { MOST_EVENTS } from '../reading/mapping.js';

export const RECEIPT_REFUSALS = [
  'unknown_source',
  'payload_too_large',
  'invalid_signature',
  'timestamp_expired',
  'rate_limited',
  'bad_request',
  'validation_error',
  'service_unavailable',
] as const satisfies ErrorCode[];

export const NOT_STORED = 'It could not be stored. The log has the cause.';

export type Arrival = Pick<WebhookEventEntity, 'id' | 'source' | 'body_hash' | 'received_at'> & {
  readonly body: Buffer;
};

export interface SettledEvent {
  readonly outcome: SettlingProgress['outcomes'][number];
  readonly incident_id: string;
  readonly incident_number: string;
}

export interface SettledEvents {
  readonly events: readonly SettledEvent[];
  /** The earlier receipt, if the body contains nothing new. */
  readonly repeats?: SettlingProgress['repeats'];
}

export const incidentsOf = (events: readonly SettledEvent[], before: readonly string[] = []) => [
  ...new Set([...before, ...events.map(({ incident_id }) => incident_id)]),
];

export const principalOf = (source: string): string => `webhook:${source}`;

export const NOTHING_DONE: SettlingProgress = {
  done: 0,
  most: MOST_EVENTS,
  outcomes: [],
  failed: 0,
};

export function afterPart(
  before: SettlingProgress,
  { events, repeats }: SettledEvents,
): SettlingProgress {
  return {
    ...before,
    done: before.done + events.length,
    most: MOST_EVENTS,
    outcomes: [...new Set([...before.outcomes, ...events.map(({ outcome }) => outcome)])],
    repeats: before.repeats ?? repeats,
  };
}

/** Halves a part that failed. An event that fails alone is skipped, so that it does not block the other events. */
export function afterFailure(before: SettlingProgress, size: number): SettlingProgress {
  if (size > 1) return { ...before, most: Math.ceil(size / 2) };
  return { ...before, done: before.done + 1, most: MOST_EVENTS, failed: before.failed + 1 };
}

/** The status of a receipt tells the first of these outcomes that it has. */
const STATUSES = [
  ['created', 'processed'],
  ['updated', 'updated'],
  ['duplicate', 'duplicate'],
] as const;

/** `body` is null if another receipt has the same bytes. */
export function ending({ outcomes, repeats, failed }: SettlingProgress, total: number) {
  if (failed > 0) {
    const some = `${failed} of ${total} events could not be stored. The log has the causes.`;
    return {
      status: 'failed',
      error: total === 1 ? NOT_STORED : some,
      duplicate_of: null,
    } as const;
  }
  const status = STATUSES.find(([outcome]) => outcomes.includes(outcome))?.[1] ?? 'processed';
  const earlier = status === 'duplicate' ? repeats : undefined;
  const body = earlier?.hasBytes ? null : undefined;
  return { status, error: null, duplicate_of: earlier?.id ?? null, body };
}
