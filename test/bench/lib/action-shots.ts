import { setTimeout as sleep } from 'node:timers/promises';
import { incidentPaths } from './beside-bare.ts';
import type { Pair, PairShot } from './in-turns.ts';
import { run } from './postgres.ts';
import type { Target } from './processes.ts';

/** Of a type that needs nobody's approval, so that the request itself runs it. */
const EXECUTE = JSON.stringify({
  action: 'quarantine_email',
  parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
});

const PATIENCE_MS = 10_000;

export async function actionShots(targets: Pair<Target>): Promise<readonly PairShot[]> {
  await addSandbox(targets.service);
  await run(
    targets.bare.databaseUrl,
    `create table bare_actions (
       id uuid primary key, incident_id uuid not null, action_type text not null, parameters jsonb not null,
       status text not null, result jsonb, requested_at timestamptz not null default now(), executed_at timestamptz);
     create table bare_audit (
       id bigint generated always as identity primary key, at timestamptz not null default now(), actor text not null,
       action text not null, subject_id text not null, details jsonb not null)`,
  );
  const paths = await incidentPaths(targets, '/actions');
  const shot = (clients: number): PairShot => ({
    what: `execute to completed on the sandbox, ${clients} ${clients === 1 ? 'client' : 'clients'}`,
    method: 'POST',
    paths,
    body: EXECUTE,
    clients,
    isRight: (body) => (JSON.parse(body) as Executed).data?.status === 'completed',
    afterwards: () => allCompleted(targets.service),
  });
  return [{ ...shot(32), goal: 0.4 }, shot(1)];
}

interface Executed {
  readonly data?: { readonly status?: string };
}

/** It comes by itself with the embedded database only. */
async function addSandbox({ url, headers }: Target): Promise<void> {
  const answer = await fetch(`${url}/api/connectors`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'sandbox', type: 'sandbox', config: {} }),
  });
  if (!answer.ok) throw new Error(`No sandbox: ${answer.status} ${await answer.text()}`);
}

/** Those too whose answers nobody waited for when a shot was over. */
async function allCompleted({ databaseUrl }: Target): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const rows = await run<{ status: string; n: string }>(
      databaseUrl,
      'select status, count(*) as n from actions group by status',
    );
    if (rows.every(({ status }) => status === 'completed')) return;
    if (Date.now() > deadline) {
      const found = rows.map(({ status, n }) => `${n} ${status}`).join(', ');
      throw new Error(`The load has left actions that are not completed: ${found}`);
    }
    await sleep(200);
  }
}
