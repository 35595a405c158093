import type { Pair, PairShot } from './in-turns.ts';
import { run } from './postgres.ts';
import type { Target } from './processes.ts';
import { receiptLoad, RECEIPT_PATH, registerSender } from './receipt-load.ts';

const CLIENTS = 50;

/** Receipts, beside what verifies the signature and stores the event, and beside what stores all the rows of a receipt. */
export async function receiptShots(targets: Pair<Target>): Promise<readonly PairShot[]> {
  await registerSender(targets.service);
  await run(
    targets.bare.databaseUrl,
    `create table bare_events (
       id uuid primary key, source text not null, body bytea not null, received_at timestamptz not null default now());
     create table bare_seen (source text, event_key text, incident_id uuid not null, primary key (source, event_key));
     create table bare_audit (
       id bigint generated always as identity primary key, at timestamptz not null default now(), actor text not null,
       action text not null, subject_id text not null, details jsonb not null);
     create table bare_outbox (
       id bigint generated always as identity primary key, type text not null, payload jsonb not null)`,
  );
  return [
    receive('one insert', '/one-insert', CLIENTS, 1),
    receive('the same rows', '/same-rows', CLIENTS, 3),
    receive('the same rows', '/same-rows', 1),
  ].map((shot) => ({ ...shot, afterwards: () => oneOfEach(targets.service) }));
}

function receive(beside: string, barePath: string, clients: number, goal?: number): PairShot {
  return {
    what: `receipt, ${clients} clients, ${beside}`,
    ...(goal !== undefined && { goal }),
    method: 'POST',
    paths: { service: [RECEIPT_PATH], bare: [barePath] },
    load: (target, [path], seconds) => receiptLoad(target, path!, clients, seconds),
  };
}

/** As many incidents as events, and none without the other. */
async function oneOfEach({ databaseUrl }: Target): Promise<void> {
  const [row] = await run<{ events: string; seen: string; incidents: string; pairs: string }>(
    databaseUrl,
    `select (select count(*) from webhook_events) as events,
            (select count(*) from webhook_seen_events) as seen,
            (select count(*) from incidents where created_by = 'webhook:bench') as incidents,
            (select count(*) from webhook_events join incidents on incidents.id = any(incident_ids)) as pairs`,
  );
  const { events, seen, incidents, pairs } = row!;
  if (new Set([events, seen, incidents, pairs]).size > 1) {
    throw new Error(
      `The load has left ${events} events, ${seen} seen ids, ${incidents} incidents, ${pairs} pairs`,
    );
  }
}
