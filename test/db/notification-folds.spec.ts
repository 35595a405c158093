import { jest } from '@jest/globals';
import type { FoldedDelivery } from '../../src/notifications/deliveries.repository.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import {
  clearNotifications,
  Deliverer,
  insertChannel,
  insertEvents,
} from './notifications-harness.js';

const severityOf = ({ payload }: FoldedDelivery['delivery']) => (payload as EventFields).severity;

interface EventFields {
  readonly severity?: string;
  readonly group?: string;
  readonly source?: string;
  readonly type?: string;
}

describe('the rules for summary messages', () => {
  const { dataSource, query, transactions } = useTestDatabase();
  const deliverer = new Deliverer(dataSource);
  const { deliveries } = deliverer;

  beforeEach(() => clearNotifications(dataSource));

  const channel = (type = 'slack') => {
    const events = [
      'incident.created',
      'triage.failed',
      'action.pending_approval',
      'playbook.step_failed',
    ];
    return insertChannel(dataSource, events, { type });
  };
  const notify = async (n: number, fields: EventFields = {}, incident?: string): Promise<void> => {
    const { severity = 'high', group = 'a', source = 'wazuh', type = 'incident.created' } = fields;
    for (let count = 0; count < n; count += 1) {
      await event(type, 'incident', { severity, group, source }, incident);
    }
  };
  const approval = async (requestedBy: string, more: object = {}): Promise<string> => {
    const payload = { severity: 'high', action_type: 'isolate_host', requested_by: requestedBy };
    const action = `act-${newId()}`;
    const all = { ...payload, incident_id: newId(), ...more };
    await event('action.pending_approval', 'action', all, action);
    return action;
  };
  /** Simulates that time passes. */
  const pass = async (seconds: number): Promise<void> => {
    await query(
      `update notification_deliveries
          set occurred_at = occurred_at - $1 * interval '1 second', held_until = held_until - $1 * interval '1 second'`,
      [seconds],
    );
    await query(
      `update work set due_at = due_at - $1 * interval '1 second'
        where kind = 'notification' and not ready and worker is null`,
      [seconds],
    );
  };
  const release = async (): Promise<void> => {
    await query('update notification_deliveries set held_until = null');
    await deliverer.hurry();
  };
  const claim = () => deliverer.claim();
  const end = (one: FoldedDelivery) => deliverer.end(one);
  /** Delivers all due deliveries. Returns the messages of each claim. */
  const deliverAll = async (): Promise<FoldedDelivery[][]> => {
    const rounds: FoldedDelivery[][] = [];
    for (let claimed = await claim(); claimed.length > 0; claimed = await claim()) {
      rounds.push(claimed);
      for (const one of claimed) await end(one);
    }
    return rounds;
  };
  const event = (type: string, subject: string, payload: object, id = newId()) =>
    insertEvents(dataSource, { type, subject, payload }, id);
  const heldSeconds = async (): Promise<(number | null)[]> => {
    const rows = await query(
      `select round(extract(epoch from held_until - occurred_at))::integer as held from notification_deliveries order by position`,
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

  it('hold new incidents of a group longer after each message, and critical incidents for 3 seconds', async () => {
    await channel();
    await notify(1);
    await release();
    await end((await claim())[0]!);
    await notify(1);
    await release();
    await end((await claim())[0]!);
    await notify(1);
    await notify(1, { group: 'b' });
    await notify(1, { severity: 'critical', group: 'c' });
    await notify(1, { type: 'triage.failed', group: 'a' });
    expect(await heldSeconds()).toEqual([null, null, 300, 2, null, null]);
    await end((await claim()).find(({ delivery }) => severityOf(delivery) === 'critical')!);
    await notify(1, { severity: 'critical', group: 'c' });
    expect((await heldSeconds()).at(-1)).toBe(3);
    await query(
      `update notification_deliveries set occurred_at = occurred_at - interval '11 minutes'`,
    );
    await notify(1);
    expect((await heldSeconds()).at(-1)).toBe(2);
  });

  it('do not hold deliveries to webhook channels', async () => {
    await channel('webhook');
    await channel('pagerduty');
    await notify(3);
    expect(await heldSeconds()).toEqual(Array(6).fill(null));
    expect((await claim()).every(({ carried }) => carried.length === 0)).toBe(true);
  });

  it('separate critical incidents from other incidents, and the sources from each other', async () => {
    await channel();
    await notify(5, { severity: 'low' });
    await notify(3, { severity: 'critical' });
    await notify(1, { severity: 'critical', group: 'ransomware' });
    await notify(2, { source: 'falcon' });
    await release();
    const found = (await deliverAll()).flat().map(({ delivery, carried }) => {
      const { severity, source } = delivery.payload as EventFields;
      return [severity, source, carried.length];
    });
    expect(found.toSorted()).toEqual([
      ['critical', 'wazuh', 0],
      ['critical', 'wazuh', 2],
      ['high', 'falcon', 1],
      ['low', 'wazuh', 4],
    ]);
    expect(await statuses()).toEqual({ delivered: 11 });
  });

  it('keep the deliveries of a message in later attempts, even by another replica after a crash', async () => {
    await channel();
    await notify(5);
    await release();
    const [first] = await claim();
    await notify(2);
    await release();
    await deliverer.lapse();
    const again = await claim();
    const same = again.find(({ delivery }) => delivery.id === first!.delivery.id)!;
    const ids = ({ carried }: FoldedDelivery) => carried.map(({ id }) => id).toSorted();
    expect(ids(same)).toEqual(ids(first!));
    expect(same.carried).toHaveLength(4);
    for (const one of again) await end(one);
    expect(await statuses()).toEqual({ delivered: 7 });
  });

  it('keep the deliveries of a message whose first attempt was released, because the message may have been sent', async () => {
    await channel();
    await notify(3);
    await release();
    const [first] = await claim();
    const givenBack = { inMs: 0, countsAsAttempt: false };
    await deliverer.endWork(first!.delivery.id, { again: givenBack });
    await notify(2);
    await release();
    const again = (await claim()).find(({ delivery }) => delivery.id === first!.delivery.id)!;
    expect(again.carried).toHaveLength(2);
  });

  it('keep the deliveries of a message in a redelivery', async () => {
    await channel();
    await notify(4);
    await release();
    const [first] = await claim();
    await end(first!);
    await notify(2);
    await release();
    const reopen = () =>
      transactions.run((tx) =>
        deliveries.reopen(tx, first!.delivery.channel_id, first!.delivery.id),
      );
    await reopen();
    const open = [...(await claim()), ...(await claim())];
    const again = open.find(({ delivery }) => delivery.id === first!.delivery.id)!;
    const ids = ({ carried }: FoldedDelivery) => carried.map(({ id }) => id).toSorted();
    expect(ids(again)).toEqual(ids(first!));
    await end(again);
    expect(await statuses()).toEqual({ delivered: 4, pending: 2 });
  });

  it('end all deliveries of a refused message, and send each of them alone in a redelivery', async () => {
    const id = await channel();
    await notify(4);
    await release();
    const [refused] = await claim();
    await deliverer.end(refused!, 'dead');
    expect(await statuses()).toEqual({ dead: 4 });
    expect(await query('select from work')).toEqual([]);
    const reopened = await transactions.run((tx) => deliveries.reopen(tx, id, new Date(0)));
    expect(reopened).toHaveLength(4);
    const alone = (await deliverAll()).flat();
    expect(alone.map(({ carried }) => carried.length)).toEqual([0, 0, 0, 0]);
  });

  it('do not end a delivery that was redelivered while its message was sent', async () => {
    await channel();
    await notify(3);
    await release();
    const [first] = await claim();
    const [{ id, channel_id }] = first!.carried as [FoldedDelivery['delivery']];
    await transactions.run((tx) => deliveries.reopen(tx, channel_id, id));
    await end(first!);
    expect(await statuses()).toEqual({ delivered: 2, pending: 1 });
    expect((await claim()).map(({ delivery }) => delivery.id)).toEqual([id]);
  });

  it('add no delivery to a message after the loss of the claim', async () => {
    await channel();
    await notify(2);
    await release();
    const load = jest.spyOn(deliveries, 'load').mockImplementationOnce(async (tx, claims) => {
      await deliverer.lapse();
      expect(await new Deliverer(dataSource).claim()).toHaveLength(1);
      load.mockRestore();
      return await deliveries.load(tx, claims);
    });
    expect(await claim()).toEqual([]);
  });

  it('end the hold of an incident.created when the hold of a later approval for the incident ends', async () => {
    await channel();
    const incident = newId();
    for (let n = 0; n < 3; n += 1) {
      await notify(1, {}, n === 2 ? incident : undefined);
      if (n < 2) await release();
      for (const one of await claim()) await end(one);
    }
    expect((await heldSeconds()).at(-1)).toBe(300);
    await approval('playbook:malware-containment', { incident_id: incident });
    await pass(9);
    expect(await claim()).toEqual([]);
    await pass(2);
    expect(await claim()).toMatchObject([{ delivery: { type: 'incident.created' } }]);
  });

  it('read a limited number of rows in a flood', async () => {
    await channel();
    const incidents = Array.from({ length: 1_000 }, () => newId());
    const payload = { severity: 'high', group: 'a', source: 'wazuh' };
    await insertEvents(dataSource, { type: 'triage.failed', payload }, ...incidents);
    await insertEvents(dataSource, { type: 'incident.created', payload }, ...incidents);
    await notify(1);
    const [carrier] = await query(
      'select id from notification_deliveries order by position desc limit 1',
    );
    const read = await transactions.run(async (tx) => {
      const rowsRead = async () => {
        const [row] = await tx.query<{ n: string }[]>(
          `select sum(seq_tup_read + idx_tup_fetch) as n from pg_stat_xact_user_tables where relname = 'work'`,
        );
        return Number(row!.n);
      };
      const before = await rowsRead();
      expect(await deliveries.fold(tx, carrier.id, [])).toEqual([]);
      return (await rowsRead()) - before;
    });
    expect(read).toBeLessThan(10_000);
  });

  it('deliver later events of an incident only after the message with its incident.created event', async () => {
    await channel();
    const incident = newId();
    await notify(2);
    await notify(1, {}, incident);
    await notify(1, { type: 'triage.failed' }, incident);
    const [first, ...more] = await claim();
    expect([more.length, first!.carried.length]).toEqual([0, 2]);
    expect(first!.delivery.incident_id).toBe(incident);
    await end(first!);
    expect(await claim()).toMatchObject([{ delivery: { type: 'triage.failed' } }]);
  });

  it('combine the approvals of one playbook in one message, but not the approvals of people', async () => {
    await channel();
    for (let n = 0; n < 3; n += 1) await approval('playbook:malware-containment');
    await approval('playbook:phishing-response');
    await approval('alice');
    const asked = await claim();
    expect(asked.map(({ carried }) => carried.length)).toEqual([0]);
    await end(asked[0]!);
    await release();
    const sizes = (await deliverAll()).flat().map(({ carried }) => 1 + carried.length);
    expect(sizes.toSorted()).toEqual([1, 3]);
  });

  it('include malicious verdicts on incidents below the minimum severity of new incidents', async () => {
    await channel();
    await query(
      `update notification_channels set new_incident_min_severity = 'high', events = '{incident.created}'`,
    );
    const triaged = (severity: string, classification?: string) =>
      event('incident.triaged', 'incident', {
        severity,
        source: 'wazuh',
        verdict: { classification },
      });
    await triaged('high', 'malicious');
    await triaged('medium', 'suspicious');
    await triaged('medium');
    for (let n = 0; n < 3; n += 1) await triaged(n === 0 ? 'low' : 'medium', 'malicious');
    await pass(10);
    const [one, ...more] = await claim();
    expect([one!.carried.length, more.length]).toEqual([2, 0]);
    await end(one!);
    expect(await statuses()).toEqual({ delivered: 3 });
  });

  it('notify people of an incident that becomes malicious later, but not of its first verdict', async () => {
    const verdict = { classification: 'malicious' };
    const triaged = (more: object) =>
      event('incident.triaged', 'incident', { severity: 'high', source: 'edr', verdict, ...more });
    for (const type of ['slack', 'pagerduty', 'webhook']) await channel(type);
    await triaged({});
    expect(await statuses()).toEqual({});
    await triaged({ becomes_malicious: true });
    expect(await statuses()).toEqual({ pending: 1 });
  });

  it('combine all approvals of a burst in one message, for all actions and incidents', async () => {
    await channel();
    const both = async (incident: string) => {
      await approval('playbook:malware-containment', { incident_id: incident });
      await approval('playbook:malware-containment', {
        incident_id: incident,
        action_type: 'revoke_sessions',
      });
    };
    const incidents = Array.from({ length: 5 }, () => newId());
    for (const incident of incidents) {
      await both(incident);
      await pass(1);
    }
    expect(await claim()).toEqual([]);
    await pass(10);
    const [one, ...more] = await claim();
    expect([one!.carried.length, more.length]).toEqual([9, 0]);
    // The next approval waits for an earlier event of its incident that is not an approval.
    await end(one!);
    await notify(1, { type: 'playbook.step_failed' }, incidents[0]);
    await both(incidents[0]!);
    await both(incidents[1]!);
    await release();
    const rounds = (await deliverAll()).map((round) => round.map(({ carried }) => carried.length));
    expect(rounds).toEqual([[0, 1], [1]]);
  });

  it('do not apply to PagerDuty, which gets each approval separately and without a wait', async () => {
    await channel('pagerduty');
    for (let n = 0; n < 2; n += 1) await approval('playbook:malware-containment');
    expect(await heldSeconds()).toEqual([null, null]);
    expect((await claim()).map(({ carried }) => carried.length)).toEqual([0, 0]);
  });

  it('omit playbook.step_failed if action.failed is sent, except in webhook channels', async () => {
    await channel();
    await channel('webhook');
    for (const action of [undefined, 'act-1']) {
      const payload = { step: 'isolate', action_id: action };
      await event('playbook.step_failed', 'playbook_run', payload);
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

  it('notify people once in 6 hours of a step that fails in each run, and once more for critical incidents', async () => {
    await channel();
    await channel('webhook');
    const fail = (step: string, severity: string) => {
      const payload = { playbook: 'policy', playbook_version: 1, step, severity };
      return event('playbook.step_failed', 'playbook_run', payload);
    };
    const notified = async () => {
      const rows = await query(
        `select delivery.payload ->> 'step' as step, delivery.payload ->> 'severity' as severity
           from notification_deliveries delivery
           join notification_channels channel on channel.id = delivery.channel_id and channel.type = 'slack'
          order by delivery.position`,
      );
      return rows.map(
        ({ step, severity }: { step: string; severity: string }) => `${step} ${severity}`,
      );
    };
    for (const severity of ['low', 'high', 'low', 'critical', 'critical'])
      await fail('a', severity);
    await fail('b', 'low');
    expect(await notified()).toEqual(['a low', 'a critical', 'b low']);
    await pass(6 * 3_600);
    await fail('a', 'low');
    expect(await notified()).toEqual(['a low', 'a critical', 'b low', 'a low']);
    const [all] = await query(
      `select count(*)::integer as n from notification_deliveries delivery
         join notification_channels channel on channel.id = delivery.channel_id and channel.type = 'webhook'`,
    );
    expect(all).toEqual({ n: 7 });
  });
});
