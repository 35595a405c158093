import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './postgres.ts';

const WORDS = (words: string): string => `(array['${words.split(' ').join("','")}'])`;
const TYPES = WORDS(
  'phishing phishing phishing spam malware suspicious_login policy_violation bec account_takeover other',
);
const SEVERITIES = WORDS('low low medium medium medium medium high high high critical');
const NEW = WORDS('open open open triaged triaged resolved');
const OLD = WORDS(
  'resolved resolved resolved resolved resolved resolved resolved resolved triaged open',
);
const SOURCES = WORDS(
  'email-gateway email-gateway email-gateway edr edr siem idp dlp helpdesk api',
);

/** A year of incidents, of which the newest are still being worked on; with the raw data of an e-mail alert each. */
const rows = (count: number) => `
  select id_at, at, ${TYPES}[1 + h % 10] as type, ${SEVERITIES}[1 + h / 10 % 10] as severity,
         case when g > ${count} - ${Math.ceil(count / 50)} then ${NEW}[1 + h / 100 % 6] else ${OLD}[1 + h / 100 % 10] end as status,
         ${SOURCES}[1 + h / 1000 % 10] as source,
         json_build_object('message_id', '<' || g || '@mail.example.net>', 'sender', 'ceo' || h % 997 || '@examp1e.com',
           'recipient', 'finance@example.com', 'subject', 'Invoice ' || g, 'received_at', at) as raw
    from (
      select g, at, abs(hashint4(g)) as h,
             (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(g || 'a'), 1, 3)
               || '8' || substr(md5(g || 'b'), 1, 15))::uuid as id_at
        from (select g, date_trunc('milliseconds', now() - (${count} - g) * interval '1 year' / ${count}) as at
                from generate_series(1, ${count}) as g) as numbered) as hashed`;

/** Into the service's own tables, while it runs: its triggers and its fold do the counting. */
export async function seedService(url: string, count: number): Promise<void> {
  await run(
    url,
    `insert into incidents (id, incident_type, severity, status, source, title, raw_data, created_by, created_at, updated_at, triaged_at)
     select id_at, type, severity::incident_severity, status::incident_status, source,
            format('Phishing: "%s" from %s to %s', raw ->> 'subject', raw ->> 'sender', raw ->> 'recipient'), raw, 'key:seed', at, at,
            case when status <> 'open' then at + interval '1 hour' end
       from (${rows(count)}) as seed`,
  );
  await untilFolded(url);
  await run(url, 'vacuum analyze');
}

async function untilFolded(url: string): Promise<void> {
  for (;;) {
    const [state] = await run<{ done: boolean }>(
      url,
      `select coalesce((select n from incident_counts
                         where source = '' and incident_type = '' and severity = '' and status = ''), 0)
              = (select count(*) from incidents) as done`,
    );
    if (state?.done) return;
    await sleep(200);
  }
}

/** The same rows in the baseline's table. */
export async function seedBare(url: string, count: number): Promise<void> {
  await run(
    url,
    `create table bare_incidents (
       id uuid primary key, incident_type text not null, severity text not null, status text not null default 'open',
       source text not null, raw_data jsonb not null, verdict jsonb, created_at timestamptz not null default now(),
       updated_at timestamptz not null default now())`,
  );
  await run(url, 'create index on bare_incidents (created_at)');
  await run(
    url,
    `insert into bare_incidents (id, incident_type, severity, status, source, raw_data, created_at, updated_at)
     select id_at, type, severity, status, source, raw, at, at from (${rows(count)}) as seed`,
  );
  await run(url, 'vacuum analyze');
}
