import { createSecretKey, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { run } from './postgres.ts';
import { SECRETS_KEY } from './processes.ts';

/** Three entries for each incident: created, triaged, resolved. */
export async function seedTimeline(url: string): Promise<void> {
  await run(
    url,
    `insert into incident_timeline (id, incident_id, at, event, actor, summary)
     select (left(id::text, 18) || substr(gen_random_uuid()::text, 19))::uuid, id, created_at + n * interval '1 minute', event,
            'key:seed', 'The incident is ' || event || '.'
       from incidents cross join unnest(array['created', 'triaged', 'resolved']) with ordinality as entry (event, n)`,
  );
}

interface Row {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly details: string;
  readonly writer: null;
  readonly written: null;
}

const ACTIONS = ['incident.created', 'incident.triaged', 'incident.updated'];
const BATCH = 5_000;

/** Three records for each incident, signed as the service signs them, so that it can seal and verify them. */
export async function seedAudit(dist: string, url: string): Promise<void> {
  const sign = await signer(dist);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let last = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const { rows } = await client.query<{ id: string; created_at: Date }>(
        'select id, created_at from incidents where id > $1 order by id limit $2',
        [last, BATCH],
      );
      if (rows.length === 0) return;
      last = rows.at(-1)!.id;
      const records = rows.flatMap(({ id, created_at: at }) =>
        ACTIONS.map((action, n): Row => recordOf(id, at, action, n)),
      );
      await client.query(
        `insert into audit_log (id, at, actor, action, subject_type, subject_id, details, key_id, mac)
         select id, at, actor, action, subject_type, subject_id, details::json, key_id, decode(mac, 'hex')
           from json_to_recordset($1) as record (id uuid, at timestamptz, actor text, action text, subject_type text, subject_id text,
                details text, key_id text, mac text)`,
        [JSON.stringify(records.map((record) => ({ ...record, ...sign(record) })))],
      );
    }
  } finally {
    await client.end();
  }
}

const DETAILS = '{"severity":"high","source":"email-gateway","incident_type":"phishing"}';

function recordOf(incident: string, createdAt: Date, action: string, n: number): Row {
  return {
    // Ids of records begin with their time, as those of incidents do.
    id: `${incident.slice(0, 15)}${n}${incident.slice(16)}`,
    at: new Date(createdAt.getTime() + n * 60_000),
    actor: 'key:seed',
    action,
    subject_type: 'incident',
    subject_id: incident,
    details: DETAILS,
    writer: null,
    written: null,
  };
}

type Signature = (row: Row) => { readonly key_id: string; readonly mac: string };

async function signer(dist: string): Promise<Signature> {
  const load = async (path: string): Promise<unknown> =>
    await import(pathToFileURL(join(dist, path)).href);
  const { SecretKeys } = (await load('platform/secrets/secret-box.js')) as {
    SecretKeys: new (keys: readonly KeyObject[]) => object;
  };
  const { AuditKeys, rowMac } = (await load('audit/chain/audit-chain.js')) as {
    AuditKeys: new (keys: object) => {
      readonly rows: { readonly first: { readonly id: string; readonly key: KeyObject } };
    };
    rowMac(key: KeyObject, row: Row): Buffer;
  };
  const secret = createSecretKey(Buffer.from(SECRETS_KEY, 'base64'));
  const { id, key } = new AuditKeys(new SecretKeys([secret])).rows.first;
  return (row) => ({ key_id: id, mac: rowMac(key, row).toString('hex') });
}
