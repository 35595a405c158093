import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FAILPOINT } from '../../../src/actions/execution/failpoints.js';
import { ask, ChaosSite, type Kind } from './chaos-site.js';
import { StuckWatch } from './stuck-watch.js';

export const LEASE_MS = 1_000;
const DEADLINE_MS = 2_500;
const LATE_MS = LEASE_MS * 1.6;
const PATIENCE_MS = 8_000;
const QUIET_MS = 60_000;

const of = (type: Kind['type'], parameter: string, value = 'chaos.example') => ({
  type,
  parameters: { [parameter]: value },
});

/** Everything that a vendor does, to calls that may be repeated and to those that may not. */
export const KINDS: readonly Kind[] = [
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

/** What has to be among the actions for a replica to come to the point. */
const NEEDED: Readonly<Record<number, Kind>> = {
  [FAILPOINT.accepted]: kindOf('unisolate_host'),
  [FAILPOINT.vendorAccepted]: kindOf('scan_host'),
  [FAILPOINT.renewing]: kindOf('reset_password'),
};

export interface Submitted {
  readonly kind: Kind;
  readonly id: string;
}

export interface Storm {
  /** Kills by place and failpoint. */
  readonly kills: readonly Readonly<Record<number, number>>[];
  readonly submitted: readonly Submitted[];
  readonly stuck: StuckWatch;
  readonly missed: number;
}

/** Kills the replicas of both places at each failpoint so many times, with actions under way. */
export async function executorStorm(site: ChaosSite, each: number, batch: number): Promise<Storm> {
  const key = await site.makeKey('analyst');
  const stuck = new StuckWatch(site);
  stuck.start();
  const kills = site.places.map((): Record<number, number> => ({}));
  const submissions: Promise<Submitted>[] = [];
  let missed = 0;
  const storm = async (place: number): Promise<void> => {
    for (const point of Object.values(FAILPOINT)) kills[place]![point] = 0;
    const plan = Array.from({ length: each }, () => Object.values(FAILPOINT)).flat();
    for (let turn = 0; turn < plan.length; turn += 1) {
      const point = plan[turn]!;
      const replica = site.places[place]!;
      replica.dieAt(point);
      const kinds = Array.from({ length: batch }, () => pick());
      if (NEEDED[point]) kinds.push(NEEDED[point]);
      submissions.push(...kinds.map((kind) => submit(site, place, key, kind)));
      await Promise.race([replica.exited, sleep(PATIENCE_MS, undefined, { ref: false })]);
      if (!replica.gone) {
        missed += 1;
        if (missed > each) throw new Error(`The replica does not come to failpoint ${point}.`);
        turn -= 1;
        continue;
      }
      kills[place]![point]! += 1;
      await site.restart(place);
    }
  };
  await Promise.all(site.places.map((_, place) => storm(place)));
  const submitted = await Promise.all(submissions);
  await quiet(site);
  await stuck.stop();
  return { kills, submitted, stuck, missed };
}

const pick = (): Kind => KINDS[Math.floor(Math.random() * KINDS.length)]!;

async function submit(site: ChaosSite, place: number, key: string, kind: Kind): Promise<Submitted> {
  const body = { action: kind.type, parameters: kind.parameters };
  const id = await insist(site, place, key, '/api/actions/execute', body);
  if (kind.approved) await insist(site, place, key, `/api/actions/${id}/approve`, {});
  return { kind, id };
}

/** As a client does that wants its action once: with a key, again and again until it is answered. */
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
      `select id, phase, fence, sent, lease_until from actions where status = 'pending'`,
    );
    if (rows.length === 0) return;
    if (Date.now() > end) throw new Error(`These never ended: ${JSON.stringify(rows)}`);
  }
}

export async function openExecutorSite(): Promise<ChaosSite> {
  return await ChaosSite.open(KINDS, {
    settings: {
      ACTION_LEASE_MS: String(LEASE_MS),
      ACTION_DEADLINE_MS: String(DEADLINE_MS),
      ACTION_WAIT_MS: '300',
    },
  });
}
