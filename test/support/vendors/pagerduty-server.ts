import { objectOf, type Reply, type Route, VendorServer } from './vendor-server.js';

export interface PagerDutyEvent {
  readonly routing_key: string;
  readonly event_action: 'trigger' | 'acknowledge' | 'resolve';
  readonly dedup_key: string;
  readonly payload?: {
    readonly summary: string;
    readonly severity: string;
    readonly custom_details: Readonly<Record<string, string>>;
  };
  readonly links?: readonly { readonly href: string; readonly text: string }[];
}
type AlertState = 'triggered' | 'acknowledged' | 'resolved';

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
const KEYS = { routing_key: text(32), dedup_key: text(255) };

/**
 * Events API v2 of PagerDuty. It stores alerts by key: `trigger` opens an alert or changes an open one. Other changes of an alert
 * that is not open have no effect.
 * https://developer.pagerduty.com/docs/events-api-v2/trigger-events/,
 * https://developer.pagerduty.com/docs/events-api-v2/overview/
 */
export class PagerDutyServer extends VendorServer {
  readonly routingKey = 'R0123456789abcdefR0123456789abcd';
  readonly events: PagerDutyEvent[] = [];
  readonly alerts = new Map<string, AlertState>();

  protected readonly routes: readonly Route[] = [
    {
      on: 'POST /v2/enqueue',
      body: {
        oneOf: [
          objectOf({ ...KEYS, event_action: { enum: ['acknowledge', 'resolve'] } }),
          objectOf(
            {
              ...KEYS,
              event_action: { const: 'trigger' },
              payload: objectOf(
                {
                  summary: text(1_024),
                  source: text(255),
                  severity: { enum: ['critical', 'error', 'warning', 'info'] },
                  timestamp: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$' },
                  class: text(255),
                  custom_details: { type: 'object', additionalProperties: { type: 'string' } },
                },
                ['timestamp', 'class', 'custom_details'],
              ),
              client: text(255),
              client_url: { type: 'string', pattern: '^https?://' },
              links: {
                type: 'array',
                items: objectOf(
                  { href: { type: 'string', pattern: '^https?://' }, text: text(255) },
                  ['text'],
                ),
              },
            },
            ['client', 'client_url', 'links', 'dedup_key'],
          ),
        ],
      },
      answer: ({ body }) => this.enqueue(body as PagerDutyEvent),
    },
  ];

  override forget(): void {
    super.forget();
    this.events.length = 0;
    this.alerts.clear();
  }

  protected errorOf(_status: number, message: string): unknown {
    return { status: 'invalid event', message: 'Event object is invalid', errors: [message] };
  }

  private enqueue(event: PagerDutyEvent): Reply {
    const { routing_key, event_action: action, dedup_key: key } = event;
    if (routing_key !== this.routingKey) return this.error(400, 'Invalid routing key');
    this.events.push(event);
    const open = this.alerts.get(key) === 'triggered' || this.alerts.get(key) === 'acknowledged';
    if (action === 'trigger' && !open) this.alerts.set(key, 'triggered');
    if (action === 'acknowledge' && open) this.alerts.set(key, 'acknowledged');
    if (action === 'resolve' && open) this.alerts.set(key, 'resolved');
    return { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: key } };
  }
}
