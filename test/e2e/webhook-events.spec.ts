import { newId } from '../../src/platform/ids.js';
import { foldCounts } from '../../src/platform/counting/counted-list.js';
import { Statements } from '../../src/platform/database/statements.js';
import type { WebhookEventStatus } from '../../src/webhooks/webhook-events.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

describe('the inbox of webhook events', () => {
  interface Item {
    readonly id: string;
    readonly source: string;
    readonly status: WebhookEventStatus;
  }

  interface Row {
    readonly source?: string;
    readonly status?: WebhookEventStatus;
    readonly body?: Buffer | null;
    readonly incident_ids?: readonly string[];
    readonly duplicate_of?: string;
    readonly error?: string;
    readonly attempts?: number;
    readonly processed_at?: Date;
  }

  const FIRST = Date.parse('2026-01-31T09:30:00.123Z');
  const app = useStarted(() => startTestApp());
  const viewer = useStarted(() => as(app, 'viewer'));
  let later = 0;
  beforeEach(() =>
    app.sql('truncate webhook_events, webhook_event_counts, webhook_event_count_deltas'),
  );

  /** Inserts a webhook event whose time is a millisecond later than that of the previous event. */
  const receive = async (row: Row = {}): Promise<string> => {
    const at = FIRST + (later += 1);
    const id = newId(at);
    await app.sql(
      `insert into webhook_events (id, source, status, body, body_hash, incident_ids, duplicate_of, error, attempts, received_at, processed_at)
       values ($1::uuid, $2, $3, $4, sha256($1::uuid::text::bytea), $5, $6, $7, $8, $9, $10)`,
      [
        id,
        row.source ?? 'email-gateway',
        row.status ?? 'processed',
        row.body ?? null,
        row.incident_ids ?? [],
        row.duplicate_of,
        row.error,
        row.attempts ?? 1,
        new Date(at),
        row.processed_at,
      ],
    );
    return id;
  };
  const read = (id: string) => viewer.get(`/api/webhook-events/${id}`);
  const list = async (query = '') => {
    const answer = await viewer.get(`/api/webhook-events?${query}`);
    expect(answer.status).toBe(200);
    return answer.body as { data: Item[]; meta: { total: number } };
  };

  it.each([
    [
      'text with a byte order mark, a NUL and U+FFFF',
      Buffer.from('\ufeff\0\uffff'),
      '\ufeff\0\uffff',
      'utf8',
    ],
    ['half a surrogate pair', Buffer.from('7b22eda080227d', 'hex'), 'eyLtoIAifQ==', 'base64'],
  ])('shows the body of a failed or waiting event: %s', async (_, body, shown, encoding) => {
    for (const status of ['failed', 'queued'] as const) {
      const error = status === 'failed' ? 'The body fits no format of the source.' : undefined;
      const answer = await read(await receive({ status, body, error, source: status }));
      expect(answer.body.data).toMatchObject({ status, body: shown, body_encoding: encoding });
      expect(answer.body.data.error).toBe(error);
    }
    for (const item of (await list()).data) expect(item).not.toHaveProperty('body');
  });

  it('reports the number of waiting and failed events in metrics and health', async () => {
    for (const status of ['queued', 'failed', 'failed', 'processed'] as const) {
      await receive({ status, source: `s${later}` });
    }
    await foldCounts(app.nest.get(Statements));
    await receive({ status: 'queued', source: 'not-folded' });
    // Repeats the scrape, because gauges are cached for a short time.
    const gauge = await eventually(
      async () => (await app.get('/metrics')).text,
      (text) => text.includes('webhook_events{status="queued"} 2\n'),
    );
    expect(gauge).toContain('webhook_events{status="failed"} 2\n');
    expect(gauge).not.toContain('webhook_events{status="processed"}');
    const jobs = { webhook_events_queued: 2, webhook_events_failed: 2 };
    const { body } = await viewer.get('/api/health/detailed');
    expect(body.components.jobs).toMatchObject({ status: 'healthy', ...jobs });
  });
});
