import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import type {
  SettlingProgress,
  WebhookEventEntity,
  WebhookEventStatus,
} from '../events/webhook-event.entity.js';
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
  readonly outcome: 'created' | 'duplicate' | 'updated';
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

export function principalOf(source: string): string {
  return `webhook:${source}`;
}

/** The first outcome of a body is the status of its receipt. */
const OUTCOMES = ['created', 'updated', 'duplicate'] as const;
const MOST_NAMED = 100;

export const NOTHING_DONE: SettlingProgress = {
  done: 0,
  most: MOST_EVENTS,
  outcomes: [],
  failed: [],
  failures: 0,
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
  const failed = [...before.failed, before.done + 1].slice(0, MOST_NAMED);
  const failures = before.failures + 1;
  return { ...before, done: before.done + 1, most: MOST_EVENTS, failed, failures };
}

/** `body` is null if another receipt has the same bytes. */
export function ending({ outcomes, repeats, failed, failures }: SettlingProgress, total: number) {
  if (failures === 0) {
    const first = OUTCOMES.find((outcome) => outcomes.includes(outcome)) ?? 'created';
    const status: WebhookEventStatus = first === 'created' ? 'processed' : first;
    const earlier = status === 'duplicate' ? repeats : undefined;
    const body = earlier?.hasBytes ? null : undefined;
    return { status, error: null, duplicate_of: earlier?.id ?? null, body };
  }
  const more = failures > failed.length ? ` and ${failures - failed.length} more` : '';
  const names = `Of ${total} events these could not be stored: number ${failed.join(', ')}${more}. The log has the cause.`;
  const error = total === 1 ? NOT_STORED : names;
  return { status: 'failed' as const, error, duplicate_of: null };
}
