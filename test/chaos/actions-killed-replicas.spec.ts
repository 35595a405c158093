import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { shownActionId } from '../../src/actions/action.js';
import { MOST_PER_CONNECTOR } from '../../src/actions/execution/action-work.js';
import { newId } from '../../src/platform/ids.js';
import { FAILPOINT } from '../support/actions/failpoints.js';
import type { ChaosReplica } from '../support/chaos/chaos-replica.js';
import { ask, ChaosSite, type Kind } from '../support/chaos/chaos-site.js';
import { FULL, say } from '../support/chaos/figures.js';
import { useStarted } from '../support/use-started.js';

const LEASE_MS = 1_000;
const DEADLINE_MS = 2_500;
const LATE_MS = LEASE_MS * 1.6;
const PATIENCE_MS = 8_000;
/**
 * Maximum attempts that miss the failpoint. Stopping a replica can make its vendor calls fail, which opens the circuit
 * breaker for 30 s.
 */
const MOST_MISSED = 6;
const QUIET_MS = 60_000;
/**
 * Maximum stop of a replica. Longer than the lease, because other replicas cannot take rows that the stopped replica
 * has locked.
 */
const LONGEST_STOP_MS = LEASE_MS * 2;

const of = (type: Kind['type'], parameter: string, value = 'chaos.example') => ({
  type,
  parameters: { [parameter]: value },
});

/** Types of actions with the behaviours of the vendor, for calls that may be repeated and for calls that may not. */
const KINDS: readonly Kind[] = [
  { ...of('block_sender', 'sender', 'a@chaos.example'), behaviours: ['apply'] },
  { ...of('block_ip', 'ip', '203.0.113.9'), behaviours: ['apply-then-drop'] },
  { ...of('block_domain', 'domain'), behaviours: ['apply-then-500'] },
  { ...of('create_ticket', 'title'), behaviours: ['answer-twice'] },
  { ...of('isolate_host', 'host_id'), behaviours: ['refuse'] },
  { ...of('disable_user', 'user'), behaviours: ['hang'] },
  { ...of('scan_host', 'host_id'), behaviours: ['apply'] },
  { ...of('reset_password', 'user'), behaviours: ['apply'], afterMs: LATE_MS },
  { ...of('quarantine_email', 'message_id'), behaviours: ['apply'], idempotent: true },
  {
    ...of('unblock_ip', 'ip', '203.0.113.9'),
    behaviours: ['apply-then-drop', 'apply'],
    idempotent: true,
  },
  {
    ...of('unblock_domain', 'domain'),
    behaviours: ['apply-then-500', 'apply'],
    idempotent: true,
  },
  {
    ...of('revoke_sessions', 'user'),
    behaviours: ['apply'],
    afterMs: LATE_MS,
    idempotent: true,
  },
  { ...of('unisolate_host', 'host_id'), behaviours: ['apply'], approved: true },
];

const kindOf = (type: Kind['type']): Kind => KINDS.find((kind) => kind.type === type)!;

/**
 * More actions of this kind are inserted than one replica starts in parallel, so that the other replica also starts
 * some.
 */
const LEFT = kindOf('revoke_sessions');
const MANY_LEFT = MOST_PER_CONNECTOR + 4;

/** Kind of action that reaches the failpoint, for failpoints that not every kind reaches. */
const NEEDED: Readonly<Record<number, Kind>> = {
  [FAILPOINT.vendorAccepted]: kindOf('scan_host'),
  [FAILPOINT.renewing]: kindOf('reset_password'),
};

interface Submitted {
  readonly kind: Kind;
  readonly id: string;
}

interface Storm {
  /** Number of kills of each place, by failpoint. */
  readonly kills: readonly Readonly<Record<number, number>>[];
  /** Number of stops of each place, by failpoint. */
  readonly stops: readonly Readonly<Record<number, number>>[];
  /** Number of claims that stopped replicas had lost when they woke up. */
  readonly late: number;
  readonly submitted: readonly Submitted[];
  /** Requests without an Idempotency-Key: the name of their principal, and their number. */
  readonly unkeyed: { readonly by: RegExp; readonly most: number };
  readonly missed: number;
}

const POINTS: readonly number[] = Object.values(FAILPOINT);

/**
 * Kills or stops the replicas of both places `each` times at each failpoint, while actions are in progress. A stopped
 * replica is woken after the other replica has taken over its work.
 */
async function executorStorm(site: ChaosSite, each: number, batch: number): Promise<Storm> {
  const key = await site.makeKey('analyst');
  const hasty = await site.makeKey('senior');
  const counts = () =>
    site.places.map((): Record<number, number> => {
      return Object.fromEntries(POINTS.map((point) => [point, 0]));
    });
  const struck = { kill: counts(), stop: counts() };
  const submissions: Promise<Submitted>[] = [];
  const unkeyed: Promise<unknown>[] = [];
  let missed = 0;
  let late = 0;
  const submitFor = (place: number, point: number): void => {
    const kinds = Array.from({ length: batch }, () => pick());
    if (NEEDED[point]) kinds.push(NEEDED[point]);
    if (point === FAILPOINT.unclaimed) submissions.push(...leave(site));
    submissions.push(...kinds.map((kind) => submit(site, place, key, kind)));
    // Requests without an Idempotency-Key share transactions.
    const atOnce = kinds.map(() => pick()).filter(({ approved }) => !approved);
    unkeyed.push(...atOnce.map((kind) => askOnce(site, place, hasty, kind)));
  };
  const strike = async (place: number, act: 'kill' | 'stop', point: number) => {
    const replica = site.places[place]!;
    let isStruck = false;
    let misses = 0;
    const blow = (act === 'kill' ? replica.dieAt(point) : replica.stopAt(point)).then(() => {
      isStruck = true;
    });
    for (;;) {
      submitFor(place, point);
      await Promise.race([blow, sleep(PATIENCE_MS, undefined, { ref: false })]);
      if (isStruck) break;
      missed += 1;
      if (++misses > MOST_MISSED)
        throw new Error(`The replica does not come to failpoint ${point}.`);
    }
    struck[act][place]![point]! += 1;
    if (act === 'kill') await site.restart(place);
    else late += await wakeLate(site, replica);
  };
  // At most one place is stopped at a time, so that the other replica can take over.
  let stops: Promise<void> = Promise.resolve();
  const storm = async (place: number): Promise<void> => {
    for (let round = 0; round < each; round += 1) {
      for (const point of POINTS) await strike(place, 'kill', point);
      for (const point of POINTS) {
        stops = stops.then(() => strike(place, 'stop', point));
        await stops;
      }
    }
  };
  await Promise.all(site.places.map((_, place) => storm(place)));
  const submitted = await Promise.all(submissions);
  await Promise.all(unkeyed);
  await quiet(site);
  return {
    kills: struck.kill,
    stops: struck.stop,
    late,
    submitted,
    unkeyed: { by: /^key:senior-/, most: unkeyed.length },
    missed,
  };
}

/**
 * Wakes a stopped replica when its leases have expired and the other replica has taken over its work. Returns the
 * number of claims that the stopped replica has lost.
 */
async function wakeLate(site: ChaosSite, replica: ChaosReplica): Promise<number> {
  const { rows: had } = await site.db.query<{ id: string; fence: number }>(
    `select ref as id, fence from work where kind = 'action' and worker is not null`,
  );
  const runs = [had.map(({ id }) => id), had.map(({ fence }) => fence)];
  const count = async (which: string): Promise<number> => {
    const { rows } = await site.db.query<{ n: number }>(
      `select count(*)::integer as n
         from unnest($1::uuid[], $2::integer[]) as had (id, fence)
         left join work on work.kind = 'action' and work.ref = had.id
        where ${which}`,
      runs,
    );
    return rows[0]!.n;
  };
  await sleep(LEASE_MS);
  for (const end = Date.now() + LONGEST_STOP_MS; Date.now() < end; await sleep(20)) {
    const left = await count(
      `work.fence = had.fence and work.worker is not null and (work.ready or work.due_at < clock_timestamp())`,
    );
    if (left === 0) break;
  }
  const lost = await count('work.id is null or work.fence > had.fence or work.worker is null');
  replica.signal('SIGCONT');
  return lost;
}

const pick = (): Kind => KINDS[Math.floor(Math.random() * KINDS.length)]!;

async function submit(site: ChaosSite, place: number, key: string, kind: Kind): Promise<Submitted> {
  const body = { action: kind.type, parameters: kind.parameters };
  const id = await insist(site, place, key, '/api/actions/execute', body);
  if (kind.approved) await insist(site, place, key, `/api/actions/${id}/approve`, {});
  return { kind, id };
}

/** Inserts actions that no replica has claimed, as after calls that the kill switch stopped. */
function leave(site: ChaosSite): Promise<Submitted>[] {
  return Array.from({ length: MANY_LEFT }, async () => {
    const id = newId();
    await site.db.query(
      `with action as (
         insert into actions (id, action_type, parameters, status, requested_by, requested_at)
         values ($1, $2, $3, 'pending', 'test', now()))
       insert into work (kind, ref, lane, urgency, ready, due_at)
       select 'action', $1, 'action.' || id, 2, true, now() from connectors where name = $4`,
      [id, LEFT.type, LEFT.parameters, LEFT.type.replaceAll('_', '-')],
    );
    return { kind: LEFT, id: shownActionId(id) };
  });
}

/** Sends a request once, like a client that does not repeat its requests. */
async function askOnce(site: ChaosSite, place: number, key: string, kind: Kind): Promise<unknown> {
  const body = { action: kind.type, parameters: kind.parameters };
  const { url } = site.places[place]!;
  return await ask(url, 'POST', '/api/actions/execute', { key, body }).catch(() => undefined);
}

/** Repeats a request with an Idempotency-Key until it gets a response. */
async function insist(
  site: ChaosSite,
  place: number,
  key: string,
  path: string,
  body: object,
): Promise<string> {
  const headers = { 'idempotency-key': randomUUID() };
  for (let turn = 0; ; turn += 1) {
    const { url } = site.places[(place + turn) % site.places.length]!;
    const answer = await ask(url, 'POST', path, { key, body, headers }).catch(() => undefined);
    const data = answer?.body?.data;
    const id: unknown = data?.action_id ?? data?.id;
    if (typeof id === 'string') return id;
    if (answer && answer.status < 500 && answer.status !== 409) {
      throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    }
    await sleep(100 + Math.random() * 200);
  }
}

async function quiet(site: ChaosSite): Promise<void> {
  for (const end = Date.now() + QUIET_MS; ; await sleep(100)) {
    const { rows } = await site.db.query(
      `select actions.id, work.* from actions left join work on work.kind = 'action' and work.ref = actions.id
        where status = 'pending'`,
    );
    if (rows.length === 0) return;
    if (Date.now() > end) throw new Error(`These never ended: ${JSON.stringify(rows)}`);
  }
}

async function openExecutorSite(): Promise<ChaosSite> {
  return await ChaosSite.open(KINDS, {
    settings: {
      ACTION_LEASE_MS: String(LEASE_MS),
      ACTION_DEADLINE_MS: String(DEADLINE_MS),
      ACTION_WAIT_MS: '300',
    },
  });
}

const EACH = FULL ? 13 : 1;
const BATCH = FULL ? 4 : 6;

interface Row {
  readonly id: string;
  readonly action_type: string;
  readonly requested_by: string;
  readonly status: string;
  readonly result: { readonly success: boolean; readonly code?: string };
  readonly endings: number;
}

interface Judgement {
  readonly faults: readonly string[];
  /** Number of actions by outcome and number of effects. */
  readonly endings: Readonly<Record<string, number>>;
}

/** Result codes of actions that had no effect. */
const NOTHING_HAPPENED = new Set(['refused', 'interrupted', 'unreachable', 'no_connector']);
const UNCERTAIN = new Set(['outcome_unknown', 'timeout']);

/** Compares the results of the actions with the effects that the vendor counted. */
async function judge(site: ChaosSite, { submitted, unkeyed }: Storm): Promise<Judgement> {
  const { rows } = await site.db.query<Row>(
    `select id, action_type, requested_by, status, result,
            (select count(*)::integer from audit_log
              where subject_id = 'act-' || actions.id and action in ('action.completed', 'action.failed')) as endings
       from actions`,
  );
  const faults: string[] = [];
  const endings: Record<string, number> = {};
  const kinds = new Map(submitted.map(({ id, kind }) => [id, kind]));
  const hasty = new Set(rows.filter(({ requested_by: by }) => unkeyed.by.test(by)));
  if (hasty.size > unkeyed.most) faults.push(`${hasty.size} of ${unkeyed.most} without a key`);
  const known = new Set(rows.filter((row) => !hasty.has(row)).map(({ id }) => `act-${id}`));
  for (const id of kinds.keys()) if (!known.has(id)) faults.push(`${id} is lost`);
  for (const id of known) if (!kinds.has(id)) faults.push(`${id} was made twice`);
  for (const row of rows) {
    const shown = `act-${row.id}`;
    const effects = site.vendor.effectsOf(shown);
    const kind = KINDS.find(({ type }) => type === row.action_type);
    const idempotent = kind?.idempotent ?? false;
    const how = row.result?.code ?? row.status;
    const name = `${idempotent ? 'repeatable' : 'once only'}: ${how}, ${idempotent ? Math.min(effects, 1) : effects} effects`;
    endings[name] = (endings[name] ?? 0) + 1;
    for (const fault of faultsOf(row, effects, idempotent)) {
      faults.push(`${shown} ${row.action_type} ${how}, ${effects} effects: ${fault}`);
    }
  }
  return { faults, endings };
}

function faultsOf(
  { status, result, endings }: Row,
  effects: number,
  idempotent: boolean,
): string[] {
  const code = result?.code ?? '';
  const faults: string[] = [];
  if (endings !== 1) faults.push(`ended ${endings} times by the audit log`);
  if (!idempotent && effects > 1) faults.push('done twice');
  if (status === 'completed' && effects === 0) faults.push('not done');
  if (NOTHING_HAPPENED.has(code) && effects > 0) faults.push('done all the same');
  const settled = status === 'completed' || NOTHING_HAPPENED.has(code) || UNCERTAIN.has(code);
  if (!settled) faults.push('ended otherwise');
  return faults;
}

describe('an action whose replica is killed or paused at any point of its execution', () => {
  const site = useStarted(() => openExecutorSite());

  it(
    'is executed at most once, and ends with the result that the vendor recorded',
    async () => {
      const storm = await executorStorm(site, EACH, BATCH);
      const { faults, endings } = await judge(site, storm);
      const counted = (at: typeof storm.kills) => at.map((one) => JSON.stringify(one)).join(' ');
      say(`Kills by failpoint at each place: ${counted(storm.kills)}, ${storm.missed} missed`);
      say(
        `Stops by failpoint at each place: ${counted(storm.stops)}; ${storm.late} claims were lost`,
      );
      say(`${storm.submitted.length} actions: ${JSON.stringify(endings, null, 2)}`);
      expect(faults).toEqual([]);
      for (const strikes of [...storm.kills, ...storm.stops]) {
        for (const point of Object.values(FAILPOINT)) expect(strikes[point]).toBe(EACH);
      }
      expect(storm.late).toBeGreaterThan(0);
    },
    FULL ? 3_000_000 : 480_000,
  );
});
