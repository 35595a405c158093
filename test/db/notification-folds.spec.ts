import type { DataSource } from 'typeorm';
import { DeliveryFolds } from '../../src/notifications/deliveries/delivery-folds.js';
import type { FoldedDelivery } from '../../src/notifications/delivery.js';
import { DeliveryFoldsRepository } from '../../src/notifications/records/delivery-folds.repository.js';
import { DeliveryWritesRepository } from '../../src/notifications/records/delivery-writes.repository.js';
import { newId } from '../../src/platform/ids.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { type OpenTestDatabase, openTestDatabase } from '../support/open-test-database.js';

const REQUEST = {
  underWay: new Map(),
  placesPerChannel: 4,
  failuresUntilProbing: 3,
  leaseMs: 30_000,
};

interface Told {
  readonly severity?: string;
  readonly group?: string;
  readonly source?: string;
  readonly type?: string;
}

describe('folds of notifications', () => {
  let database: OpenTestDatabase;
  let dataSource: DataSource;
  let transactions: Transactions;
  let deliveries: DeliveryWritesRepository;
  let folds: DeliveryFoldsRepository;
  const query = (text: string, values: unknown[] = []) => dataSource.query(text, values);

  beforeEach(async () => {
    database = await openTestDatabase();
    ({ dataSource } = database);
    transactions = new Transactions(dataSource);
    const statements = new Statements(dataSource);
    deliveries = new DeliveryWritesRepository(statements);
    folds = new DeliveryFoldsRepository(statements);
  });
  afterEach(() => database.close());

  const channel = (type = 'slack') =>
    query(
      `insert into notification_channels (id, name, name_key, type, enabled, events, min_severity, config, created_by)
       values ($1::uuid, $1::text, $1::text, $2, true, '{incident.created,triage.failed,action.pending_approval,playbook.step_failed}', 'low', '{}', 'test')`,
      [newId(), type],
    );
  const tell = async (n: number, told: Told = {}, incident?: string): Promise<void> => {
    const { severity = 'high', group = 'a', source = 'wazuh', type = 'incident.created' } = told;
    for (let count = 0; count < n; count += 1) {
      await query(
        `insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
         values ($1, $2, 'incident', $3, $4, now())`,
        [newId(), type, incident ?? newId(), { severity, group, source }],
      );
    }
  };
  const approval = async (requestedBy: string, severity = 'high'): Promise<void> => {
    const payload = { severity, action_type: 'isolate_host', requested_by: requestedBy };
    await query(
      `insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
       values ($1, 'action.pending_approval', 'action', $2, $3, now())`,
      [newId(), `act-${newId()}`, { ...payload, incident_id: newId() }],
    );
  };
  const release = () => query('update notification_deliveries set held_until = null');
  const claim = (): Promise<FoldedDelivery[]> =>
    transactions.run(async (tx) =>
      new DeliveryFolds(folds).fold(tx, await deliveries.claim(tx, REQUEST)),
    );
  const end = (one: FoldedDelivery) =>
    transactions.run(async (tx) => {
      const isOurs = await deliveries.delivered(tx, one.delivery);
      if (isOurs) await folds.delivered(tx, one.delivery);
    });
  const heldSeconds = async (): Promise<(number | null)[]> => {
    const rows = await query(
      `select round(extract(epoch from held_until - due_at))::integer as held from notification_deliveries order by position`,
    );
    return rows.map(({ held }: { held: number | null }) => held);
  };
  const statuses = async (): Promise<Record<string, number>> => {
    const rows = await query(
      'select status, count(*)::integer as n from notification_deliveries group by status',
    );
    return Object.fromEntries(
      rows.map(({ status, n }: { status: string; n: number }) => [status, n]),
    );
  };

  it('hold new incidents of a group for longer after each message, and critical ones for 3 seconds', async () => {
    await channel();
    await tell(1);
    await release();
    await end((await claim())[0]!);
    await tell(1);
    await release();
    await end((await claim())[0]!);
    await tell(1);
    await tell(1, { group: 'b' });
    await tell(1, { severity: 'critical', group: 'c' });
    await tell(1, { type: 'triage.failed', group: 'a' });
    expect(await heldSeconds()).toEqual([null, null, 300, 2, null, null]);
    await end((await claim()).find(({ delivery }) => delivery.payload['severity'] === 'critical')!);
    await tell(1, { severity: 'critical', group: 'c' });
    expect((await heldSeconds()).at(-1)).toBe(3);
    await query(
      `update notification_deliveries set occurred_at = occurred_at - interval '11 minutes'`,
    );
    await tell(1);
    expect((await heldSeconds()).at(-1)).toBe(2);
  });

  it('hold nothing for programs', async () => {
    await channel('webhook');
    await channel('pagerduty');
    await tell(3);
    expect(await heldSeconds()).toEqual(Array(6).fill(null));
    expect((await claim()).every(({ carried }) => carried.length === 0)).toBe(true);
  });

  it('make one message of all that wait of a source, held ones too', async () => {
    await channel();
    await tell(20);
    await tell(10, { group: 'b', severity: 'medium' });
    expect(await claim()).toEqual([]);
    await query('update notification_deliveries set held_until = now() where position <= 3');
    const [one, ...more] = await claim();
    expect(more).toEqual([]);
    expect(one).toMatchObject({ alike: 20 });
    expect(one!.carried).toHaveLength(29);
    expect(await claim()).toEqual([]);
    await end(one!);
    expect(await statuses()).toEqual({ delivered: 30 });
    const [{ n }] = await query(
      'select count(*)::integer as n from notification_deliveries where carried_by = $1',
      [one!.delivery.id],
    );
    expect(n).toBe(29);
  });

  it('never hide a critical one among others, nor one source in another', async () => {
    await channel();
    await tell(5, { severity: 'low' });
    await tell(3, { severity: 'critical' });
    await tell(1, { severity: 'critical', group: 'ransomware' });
    await tell(2, { source: 'falcon' });
    await release();
    const found: [unknown, unknown, number][] = [];
    for (let one = await claim(); one.length > 0; one = await claim()) {
      for (const { delivery, carried } of one) {
        const { severity, source } = delivery.payload;
        found.push([severity, source, carried.length]);
      }
      for (const each of one) await end(each);
    }
    expect(found.toSorted()).toEqual([
      ['critical', 'wazuh', 0],
      ['critical', 'wazuh', 2],
      ['high', 'falcon', 1],
      ['low', 'wazuh', 4],
    ]);
    expect(await statuses()).toEqual({ delivered: 11 });
  });

  it('keep what a message has in it through attempts, also of another replica after a crash', async () => {
    await channel();
    await tell(5);
    await release();
    const [first] = await claim();
    await tell(2);
    await release();
    // Whoever sends it was killed: its lease ends.
    await query(
      `update notification_deliveries set lease_until = now() where lease_until is not null`,
    );
    const again = await claim();
    const same = again.find(({ delivery }) => delivery.id === first!.delivery.id)!;
    const ids = ({ carried }: FoldedDelivery) => carried.map(({ id }) => id).toSorted();
    expect(ids(same)).toEqual(ids(first!));
    expect(same.carried).toHaveLength(4);
    // The one that was killed comes back, and its claim has lapsed.
    await end(first!);
    expect(await statuses()).toEqual({ pending: 7 });
    for (const one of again) await end(one);
    expect(await statuses()).toEqual({ delivered: 7 });
  });

  it('are taken apart when they are refused, and when the delivery that carries them is dead', async () => {
    await channel();
    await tell(4);
    await release();
    const [refused] = await claim();
    await transactions.run((tx) =>
      folds.unfold(tx, refused!.delivery, 'It answered with status 400.'),
    );
    let alone = 0;
    for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) {
      expect(claimed.map(({ carried }) => carried.length)).toEqual(claimed.map(() => 0));
      alone += claimed.length;
      for (const one of claimed) await end(one);
    }
    expect(alone).toBe(4);

    await tell(3, { group: 'b' });
    await release();
    const [dead] = await claim();
    expect(dead!.carried).toHaveLength(2);
    await transactions.run((tx) => deliveries.dead(tx, dead!.delivery, 'No.'));
    const [next, ...more] = await claim();
    expect([next!.carried.length, more.length]).toEqual([1, 0]);
    await end(next!);
    expect(await statuses()).toEqual({ delivered: 6, dead: 1 });
  });

  it('let an event of an incident go out after the message that has its creation in it', async () => {
    await channel();
    const incident = newId();
    await tell(2);
    await tell(1, {}, incident);
    await tell(1, { type: 'triage.failed' }, incident);
    const [first, ...more] = await claim();
    expect([more.length, first!.carried.length]).toEqual([0, 2]);
    expect(first!.delivery.incidentId).toBe(incident);
    await end(first!);
    expect(await claim()).toMatchObject([{ delivery: { type: 'triage.failed' } }]);
  });

  it('make one message of the approvals that one playbook asks for, and none of those that people ask for', async () => {
    await channel();
    for (let n = 0; n < 3; n += 1) await approval('playbook:malware-containment');
    await approval('playbook:phishing-response');
    await approval('alice');
    const asked = await claim();
    expect(asked.map(({ carried }) => carried.length)).toEqual([0]);
    await end(asked[0]!);
    await release();
    const sizes: number[] = [];
    for (let folded = await claim(); folded.length > 0; folded = await claim()) {
      for (const one of folded) {
        sizes.push(1 + one.carried.length);
        await end(one);
      }
    }
    expect(sizes.toSorted()).toEqual([1, 3]);
  });

  it('leave out a step whose action has told that it failed, but not for programs', async () => {
    await channel();
    await channel('webhook');
    for (const action of [undefined, 'act-1']) {
      await query(
        `insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
         values ($1, 'playbook.step_failed', 'playbook_run', $2, $3, now())`,
        [newId(), newId(), { step: 'isolate', action_id: action }],
      );
    }
    const rows = await query(
      `select channel.type, count(*)::integer as n from notification_deliveries delivery
         join notification_channels channel on channel.id = delivery.channel_id group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { type: 'slack', n: 1 },
      { type: 'webhook', n: 2 },
    ]);
  });
});
