/*
 * Baseline of the benchmark: Fastify and pg by hand. Each request takes one statement. An action, or a webhook event
 * with all its rows, takes one transaction. There is no validation, no log, and no authentication except the signature.
 */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyRequest } from 'fastify';
import pg from 'pg';
import { SENDER } from './lib/requests.ts';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 16 });
const app = fastify();

const TABLES = `
  create table bare_incidents (
    id uuid primary key, incident_type text not null, severity text not null, status text not null default 'open',
    source text not null, raw_data jsonb not null, verdict jsonb, created_at timestamptz not null default now(),
    updated_at timestamptz not null default now());
  create index on bare_incidents (created_at);
  create table bare_actions (
    id uuid primary key, incident_id uuid not null, action_type text not null, parameters jsonb not null,
    status text not null, result jsonb, requested_at timestamptz not null default now(), executed_at timestamptz);
  create table bare_audit (
    id bigint generated always as identity primary key, at timestamptz not null default now(), actor text not null,
    action text not null, subject_id text not null, details jsonb not null);
  create table bare_events (
    id uuid primary key, source text not null, body bytea not null, received_at timestamptz not null default now());
  create table bare_seen (source text, event_key text, incident_id uuid not null, primary key (source, event_key));
  create table bare_outbox (
    id bigint generated always as identity primary key, type text not null, payload jsonb not null)`;

const INSERTS = {
  incidents: '(id, incident_type, severity, source, raw_data) values ($1, $2, $3, $4, $5)',
  actions: `(id, incident_id, action_type, parameters, status) values ($1, $2, $3, $4, 'pending')`,
  audit: '(actor, action, subject_id, details) values ($1, $2, $3, $4)',
  events: '(id, source, body) values ($1, $2, $3)',
  seen: '(source, event_key, incident_id) values ($1, $2, $3) on conflict do nothing',
  outbox: '(type, payload) values ($1, $2)',
};

const insert = (name: keyof typeof INSERTS, ...values: unknown[]) => ({
  name,
  text: `insert into bare_${name} ${INSERTS[name]}`,
  values,
});

async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

app.get<{ Params: { id: string } }>('/api/incidents/:id', async ({ params }) => {
  const text = 'select * from bare_incidents where id = $1';
  const { rows } = await pool.query<object>({ name: 'get', text, values: [params.id] });
  return { data: rows[0] };
});

app.get('/api/incidents', async () => {
  const { rows } = await pool.query<{ total: string }>({
    name: 'list',
    text: `select id, incident_type, severity, status, source, created_at, updated_at,
             (select count(*) from bare_incidents) as total
             from bare_incidents order by created_at desc limit 20`,
  });
  const data = rows.map(({ total: _, ...item }) => item);
  return { data, meta: { page: 1, per_page: 20, total: Number(rows[0]?.total ?? 0) } };
});

interface NewIncident {
  readonly incident_type: string;
  readonly severity: string;
  readonly source: string;
  readonly raw_data: object;
}

app.post<{ Body: NewIncident }>('/api/incidents', async ({ body }, reply) => {
  const { incident_type, severity, source, raw_data } = body;
  const raw = JSON.stringify(raw_data);
  const query = insert('incidents', randomUUID(), incident_type, severity, source, raw);
  const text = `${query.text} returning id, status, created_at`;
  const { rows } = await pool.query<object>({ ...query, name: 'create', text });
  return reply.status(201).send({ data: rows[0] });
});

interface NewAction {
  readonly action: string;
  readonly parameters: object;
}

app.post<{ Params: { id: string }; Body: NewAction }>(
  '/api/incidents/:id/actions',
  async ({ params, body }) =>
    await inTransaction(async (client) => {
      const id = randomUUID();
      const parameters = JSON.stringify(body.parameters);
      await client.query(insert('actions', id, params.id, body.action, parameters));
      await client.query(insert('audit', 'bench', 'action.completed', id, JSON.stringify(body)));
      const { rows } = await client.query<object>({
        name: 'complete',
        text: `update bare_actions set status = 'completed', result = $2, executed_at = now() where id = $1
               returning id as action_id, status, result`,
        values: [id, JSON.stringify({ success: true, message: 'Simulated.' })],
      });
      return { data: rows[0] };
    }),
);

interface Event {
  readonly event_type: string;
  readonly data: { readonly alert_id: string; readonly severity: string };
}

app.register(async (webhooks) => {
  webhooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  webhooks.addHook('preHandler', async (request, reply) => {
    if (!isSigned(request)) await reply.status(401).send();
  });

  webhooks.post<{ Body: Buffer }>('/one-insert', async ({ body }) => {
    await pool.query(insert('events', randomUUID(), SENDER.source, body));
    return { status: 'accepted' };
  });

  webhooks.post<{ Body: Buffer }>('/same-rows', async ({ body }) =>
    inTransaction(async (client) => {
      const { source } = SENDER;
      const text = body.toString();
      const { event_type, data } = JSON.parse(text) as Event;
      const id = randomUUID();
      const details = JSON.stringify({ id, event_type });
      const seen = await client.query(insert('seen', source, data.alert_id, id));
      if (seen.rowCount === 0) return { status: 'accepted', duplicate: true };
      await client.query(insert('events', randomUUID(), source, body));
      await client.query(insert('incidents', id, event_type, data.severity, source, text));
      await client.query(insert('audit', `webhook:${source}`, 'incident.created', id, details));
      await client.query(insert('outbox', 'incident.created', details));
      return { status: 'accepted', incident_id: id };
    }),
  );
});

function isSigned({ headers, body }: FastifyRequest): boolean {
  const timestamp = String(headers['x-webhook-timestamp']);
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const sent = Buffer.from(String(headers['x-webhook-signature']).slice('sha256='.length), 'hex');
  const hmac = createHmac('sha256', SENDER.secret).update(`${timestamp}.`);
  const digest = hmac.update(body as Buffer).digest();
  return sent.length === digest.length && timingSafeEqual(sent, digest);
}

void pool
  .query(TABLES)
  .then(() => app.listen({ port: 0, host: '127.0.0.1' }))
  .then((url) => process.stdout.write(`Listening on ${url}\n`));
