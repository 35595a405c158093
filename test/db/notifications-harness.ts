import type { DataSource } from 'typeorm';
import { CHANNEL_TYPES } from '../../src/notifications/channel.js';
import {
  DeliveriesRepository,
  type EndedAttempt,
  type FoldedDelivery,
} from '../../src/notifications/deliveries.repository.js';
import { loadSettings } from '../../src/platform/config/settings.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions, type Tx } from '../../src/platform/database/transactions.js';
import { newId } from '../../src/platform/ids.js';
import { LostClaims } from '../../src/platform/work/kind.js';
import { Work } from '../../src/platform/work/work.js';
import {
  type ClaimedRow,
  type Ending,
  WorkRepository,
} from '../../src/platform/work/work.repository.js';

export const clearNotifications = (dataSource: DataSource): Promise<unknown> =>
  dataSource.query(
    `truncate notification_channels, notification_deliveries, notification_delivery_count_deltas, domain_events, work,
              work_lanes cascade`,
  );

/** Inserts an enabled channel and returns its id. */
export async function insertChannel(
  dataSource: DataSource,
  events: readonly string[],
  { type = 'webhook', minSeverity = 'low' } = {},
): Promise<string> {
  const id = newId();
  await dataSource.query(
    `insert into notification_channels (id, name, type, audience, enabled, events, min_severity, config, created_by)
     values ($1::uuid, $1::text, $2, $5, true, $3, $4, '{"url": "https://hooks.example.com/?token=t"}', 'test')`,
    [id, type, events, minSeverity, CHANNEL_TYPES.named(type).audience],
  );
  return id;
}

interface InsertedEvent {
  readonly type: string;
  readonly subject?: string;
  readonly payload?: object;
}

/** Inserts one event per subject id in one statement. */
export const insertEvents = (
  dataSource: DataSource,
  { type, subject = 'incident', payload = {} }: InsertedEvent,
  ...ids: readonly string[]
): Promise<unknown> =>
  dataSource.query(
    `insert into domain_events (events)
     select jsonb_agg(jsonb_build_object('id', id, 'type', $1::text, 'subject_type', $2::text, 'subject_id', subject_id,
                                         'payload', $3::jsonb, 'occurred_at', now()))
       from unnest($4::uuid[], $5::text[]) as added (id, subject_id)`,
    [type, subject, payload, ids.map(() => newId()), ids],
  );

/** Ignores a lost claim, because another message may have taken over the delivery. */
function unlessLost(error: unknown): void {
  if (!(error instanceof LostClaims)) throw error;
}

/** Claims and ends notifications like a replica, step by step. */
export class Deliverer {
  readonly deliveries: DeliveriesRepository;
  private readonly transactions: Transactions;
  private readonly rows: WorkRepository;
  private readonly worker = newId();
  private readonly claims = new Map<string, ClaimedRow>();

  constructor(private readonly dataSource: DataSource) {
    const statements = new Statements(dataSource);
    this.rows = new WorkRepository(statements);
    this.transactions = new Transactions(dataSource);
    const work = new Work(statements, this.rows, this.transactions, loadSettings({}));
    this.deliveries = new DeliveriesRepository(statements, work);
  }

  /** @param busy by channel */
  async claim(
    places = 4,
    busy: ReadonlyMap<string, number> = new Map(),
  ): Promise<FoldedDelivery[]> {
    const lanes = await this.dataSource.query<{ lane: string }[]>(
      `select lane from work_lanes where kind = 'notification'`,
    );
    const requests = lanes.map(({ lane }) => {
      const n = busy.get(lane.slice('notification.'.length)) ?? 0;
      const free = Math.max(0, places - n);
      return { lane, free, places, busy: n, leaseMs: 30_000, takesLapsed: true, since: [] };
    });
    await this.rows.look(this.worker, []);
    const { claimed } = await this.rows.look(this.worker, requests);
    for (const row of claimed) this.claims.set(row.ref, row);
    const loaded = await this.transactions.run((tx) => this.deliveries.messages(tx, claimed));
    const folded: FoldedDelivery[] = [];
    for (const { ref } of claimed) {
      const one = loaded.get(ref);
      if (one) folded.push(one);
      else await this.endWork(ref).catch(unlessLost);
    }
    return folded;
  }

  async end(folded: FoldedDelivery, kind: EndedAttempt['ending']['kind'] = 'delivered') {
    const outcome: EndedAttempt['outcome'] =
      kind === 'delivered' ? { kind } : { kind: 'failed', why: 'No.' };
    await this.endWork(folded.delivery.id, {}, (tx) =>
      this.deliveries.write(tx, [{ ...folded, outcome, ending: { kind, error: 'No.' } }]),
    );
  }

  async endWork(
    id: string,
    ending: Omit<Ending, 'row'> = {},
    before: (tx: Tx) => Promise<void> = async () => undefined,
  ): Promise<void> {
    await this.transactions.run(async (tx) => {
      await before(tx);
      await this.rows.end(tx, this.worker, [{ row: this.claims.get(id)!, ...ending }]);
    });
  }

  /**
   * Expires the leases of all claims. Subtracts a second, because the column rounds to milliseconds and could round
   * now() up.
   */
  async lapse(): Promise<void> {
    await this.dataSource.query(
      `update work set due_at = now() - interval '1 second' where kind = 'notification' and worker is not null and not ready`,
    );
  }

  /** Makes waiting deliveries due. */
  async hurry(): Promise<void> {
    await this.dataSource.query(`
      update work set ready = true, due_at = now()
       where kind = 'notification' and not ready and worker is null and due_at < 'infinity'`);
  }
}
