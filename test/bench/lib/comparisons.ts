import { type Load, load, median } from './load.ts';
import {
  post,
  run,
  type Server,
  startBare,
  startService,
  type Target,
  until,
} from './processes.ts';
import { newEvent, RECEIPT_PATH, request, SENDER, signedRequest } from './requests.ts';

export type Kind = 'service' | 'bare';
type Pair<T> = Readonly<Record<Kind, T>>;

/** Request that is sent to both the service and the baseline. */
interface Shot {
  readonly what: string;
  readonly clients: number;
  /** Lowest acceptable ratio of requests per second. */
  readonly goal?: number;
  /** Prepares the requests of one load. */
  readonly requests: (kind: Kind, seconds: number) => Iterator<Buffer>;
  readonly isRight?: (body: string) => boolean;
  /** SQL condition that must hold in the database of the service after the load. */
  readonly leaves?: string;
}

export interface Comparison extends Pick<Shot, 'what' | 'goal'> {
  /** Values of the service divided by those of the baseline. The median of the rounds. */
  readonly ratio: Omit<Load, 'processor'>;
  readonly service: Load;
  readonly bare: Load;
  readonly rounds: Pair<readonly Load[]>;
}

export interface Plan {
  readonly dist: string;
  readonly rows: number;
  readonly seconds: number;
  readonly rounds: number;
}

const WARM_UP_SECONDS = 2;
/** Each signed webhook event is sent only once, so more events are prepared than any target can answer. */
const MOST_RECEIPTS_PER_SECOND = 16_000;

const INCIDENT = {
  incident_type: 'phishing',
  severity: 'high',
  source: 'email-gateway',
  raw_data: {
    message_id: '<4f2a1c@mail.example.net>',
    sender: 'ceo@examp1e.com',
    recipient: 'finance@example.com',
    subject: 'Urgent wire transfer',
    received_at: '2026-01-31T09:29:41Z',
  },
};

/** This action needs no approval, so the request itself runs the action. */
const ACTION = {
  action: 'quarantine_email',
  parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
};

/** Parts of the comparison. Each part gets new databases. */
export const PARTS: Readonly<Record<string, (targets: Pair<Target>) => Promise<readonly Shot[]>>> =
  {
    beside: async (targets) => {
      const path = '/api/incidents';
      const get = async (kind: Kind) => await incidentPaths(targets[kind], kind);
      const paths = { service: await get('service'), bare: await get('bare') };
      return [
        {
          what: 'get by id',
          goal: 0.6,
          clients: 32,
          requests: (kind) => repeat(paths[kind].map((one) => request(targets[kind], 'GET', one))),
        },
        {
          what: 'list of 20 with exact total',
          goal: 3,
          clients: 32,
          requests: (kind) => repeat([request(targets[kind], 'GET', path)]),
        },
        ...[32, 128].map((clients) => ({
          what: `create, ${clients} clients`,
          goal: 0.8,
          clients,
          requests: (kind: Kind) =>
            repeat([request(targets[kind], 'POST', path, JSON.stringify(INCIDENT))]),
        })),
      ];
    },

    webhooks: async (targets) => {
      await post(targets.service, '/api/webhooks', SENDER);
      const receipt = (beside: string, clients: number, goal?: number): Shot => ({
        what: `receipt, ${clients} clients, ${beside.replace('-', ' ')}`,
        ...(goal !== undefined && { goal }),
        clients,
        requests: (kind, seconds) => {
          const length = Math.ceil(MOST_RECEIPTS_PER_SECOND * seconds * Math.min(1, clients / 4));
          const path = kind === 'bare' ? `/${beside}` : RECEIPT_PATH;
          const signed = () => signedRequest(targets[kind], path, newEvent());
          return Array.from({ length }, signed).values();
        },
        isRight: (body) => /^{"status":"accepted"(?!.*"(duplicate|updated)")/s.test(body),
        leaves: `(select count(distinct n) = 1 from (
                    select count(*) from webhook_events union all select count(*) from webhook_seen_events
                    union all select count(*) from incidents where created_by = 'webhook:bench'
                    union all select count(*) from webhook_events join incidents on incidents.id = any(incident_ids)
                  ) as counts (n))`,
      });
      return [receipt('one-insert', 50, 1), receipt('same-rows', 50, 3), receipt('same-rows', 1)];
    },

    actions: async (targets) => {
      await post(targets.service, '/api/connectors', SANDBOX);
      const paths = {
        service: await incidentPaths(targets.service, 'service'),
        bare: await incidentPaths(targets.bare, 'bare'),
      };
      const execute = (clients: number): Shot => ({
        what: `execute to completed on the sandbox, ${clients} ${clients === 1 ? 'client' : 'clients'}`,
        clients,
        requests: (kind) =>
          repeat(
            paths[kind].map((path) =>
              request(targets[kind], 'POST', `${path}/actions`, JSON.stringify(ACTION)),
            ),
          ),
        isRight: (body) => /"status":"completed"/.test(body),
        leaves: `not exists (select from actions where status <> 'completed')`,
      });
      return [{ ...execute(32), goal: 0.4 }, execute(1)];
    },
  };

export const SANDBOX = { name: 'sandbox', type: 'sandbox', config: {} };

function* repeat(requests: readonly Buffer[]): Generator<Buffer> {
  for (let n = 0; ; n += 1) yield requests[n % requests.length]!;
}

async function incidentPaths({ databaseUrl }: Target, kind: Kind): Promise<string[]> {
  const table = kind === 'bare' ? 'bare_incidents' : 'incidents';
  const text = `select id from ${table} order by random() limit 500`;
  return (await run<{ id: string }>(databaseUrl, text)).map(({ id }) => `/api/incidents/${id}`);
}

/** Compares the service and the baseline, in turns, on the same PostgreSQL server and with the same incidents. */
export async function besideBare(server: Server, plan: Plan, part: string): Promise<Comparison[]> {
  // The load requests the same action again and again, so the check for repeated actions is off.
  const settings = { ACTION_REPEAT_MINUTES: '0' };
  const database = await server.createDatabase('bench_service');
  const targets = {
    service: await startService(plan.dist, database, settings),
    bare: await startBare(await server.createDatabase('bench_bare')),
  };
  await seed(targets, plan.rows);
  const comparisons: Comparison[] = [];
  for (const shot of await PARTS[part]!(targets)) {
    comparisons.push(await inTurns(shot, targets, plan));
  }
  await targets.service.stop();
  await targets.bare.stop();
  return comparisons;
}

/** Measures both targets in turns. Every second round begins with the service. */
async function inTurns(
  { what, goal, leaves, requests, ...shot }: Shot,
  targets: Pair<Target>,
  { rounds, seconds }: Plan,
): Promise<Comparison> {
  const fire = (kind: Kind, time: number) =>
    load(targets[kind], { ...shot, seconds: time, requests: requests(kind, time) });
  const loads: Record<Kind, Load[]> = { service: [], bare: [] };
  const kinds: Kind[] = ['bare', 'service'];
  for (const kind of kinds) await fire(kind, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of kinds) loads[kind].push(await fire(kind, seconds));
    kinds.reverse();
  }
  if (leaves) await until(targets.service, leaves);
  const ratioOf = (name: 'perSecond' | 'p50' | 'p99') =>
    median(loads.service.map((one, round) => one[name] / loads.bare[round]![name]));
  return {
    what,
    ...(goal !== undefined && { goal }),
    ratio: { perSecond: ratioOf('perSecond'), p50: ratioOf('p50'), p99: ratioOf('p99') },
    service: medians(loads.service),
    bare: medians(loads.bare),
    rounds: loads,
  };
}

const medians = (loads: readonly Load[]): Load => ({
  perSecond: median(loads.map(({ perSecond }) => perSecond)),
  p50: median(loads.map(({ p50 }) => p50)),
  p99: median(loads.map(({ p99 }) => p99)),
  processor: {
    server: median(loads.map(({ processor }) => processor.server)),
    postgres: median(loads.map(({ processor }) => processor.postgres)),
    generator: median(loads.map(({ processor }) => processor.generator)),
  },
});

const oneOf = (words: string): string => `(array['${words.split(' ').join("','")}'])`;
const TYPES = oneOf(
  'phishing phishing phishing spam malware suspicious_login policy_violation bec account_takeover other',
);
const SEVERITIES = oneOf('low low medium medium medium medium high high high critical');
const NEW = oneOf('open open open triaged triaged resolved');
const OLD = oneOf(
  'resolved resolved resolved resolved resolved resolved resolved resolved triaged open',
);
const SOURCES = oneOf(
  'email-gateway email-gateway email-gateway edr edr siem idp dlp helpdesk api',
);

/**
 * Returns SQL for the incidents of a year, each with the raw data of an e-mail alert. Most of the newest incidents are
 * unresolved.
 */
const incidents = (count: number) => `
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

/** Inserts the same incidents on both sides. The triggers of the running service count its incidents. */
async function seed({ service, bare }: Pair<Target>, count: number): Promise<void> {
  await run(
    service.databaseUrl,
    `insert into incidents (id, incident_type, severity, status, source, title, raw_data, fields, created_by, created_at, updated_at, triaged_at)
     select id_at, type, severity::incident_severity, status::incident_status, source,
            format('Phishing: "%s" from %s to %s', raw ->> 'subject', raw ->> 'sender', raw ->> 'recipient'), raw, '{}', 'key:seed', at, at,
            case when status <> 'open' then at + interval '1 hour' end
       from (${incidents(count)}) as seed`,
  );
  await run(
    bare.databaseUrl,
    `insert into bare_incidents (id, incident_type, severity, status, source, raw_data, created_at, updated_at)
     select id_at, type, severity, status, source, raw, at, at from (${incidents(count)}) as seed`,
  );
  await until(service, 'not exists (select from incident_count_deltas)');
  for (const { databaseUrl } of [service, bare]) await run(databaseUrl, 'vacuum analyze');
}
