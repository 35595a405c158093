/* Receipts by hand: the signature is verified, then the event stored, alone or with all that belongs to it. */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { SENDER } from './lib/deliveries.ts';

const ONE_INSERT = {
  name: 'event',
  text: 'insert into bare_events (id, source, body) values ($1, $2, $3)',
};

export function receive(app: FastifyInstance, pool: pg.Pool): void {
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );

  app.post<{ Body: Buffer }>('/one-insert', async (request, reply) => {
    if (!isSigned(request)) return await reply.status(401).send();
    await pool.query({ ...ONE_INSERT, values: [randomUUID(), SENDER.source, request.body] });
    return { status: 'accepted' };
  });

  app.post<{ Body: Buffer }>('/same-rows', async (request, reply) => {
    if (!isSigned(request)) return await reply.status(401).send();
    const client = await pool.connect();
    try {
      await client.query('begin');
      const answer = await store(client, request.body);
      await client.query('commit');
      return answer;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  });
}

function isSigned({ headers, body }: FastifyRequest): boolean {
  const timestamp = String(headers['x-webhook-timestamp']);
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const sent = Buffer.from(String(headers['x-webhook-signature']).slice('sha256='.length), 'hex');
  const digest = createHmac('sha256', SENDER.secret)
    .update(`${timestamp}.`)
    .update(body as Buffer)
    .digest();
  return sent.length === digest.length && timingSafeEqual(sent, digest);
}

interface Event {
  readonly event_type: string;
  readonly data: { readonly alert_id: string; readonly severity: string };
}

async function store(client: pg.PoolClient, body: Buffer): Promise<object> {
  const text = body.toString();
  const { event_type, data } = JSON.parse(text) as Event;
  const id = randomUUID();
  const seen = await client.query<{ incident_id: string }>({
    name: 'seen',
    text: `insert into bare_seen (source, event_key, incident_id) values ($1, $2, $3) on conflict do nothing`,
    values: [SENDER.source, data.alert_id, id],
  });
  if (seen.rowCount === 0) return { status: 'accepted', duplicate: true };
  await client.query({ ...ONE_INSERT, values: [randomUUID(), SENDER.source, body] });
  await client.query({
    name: 'incident',
    text: `insert into bare_incidents (id, incident_type, severity, source, raw_data) values ($1, $2, $3, $4, $5)`,
    values: [id, event_type, data.severity, SENDER.source, text],
  });
  await client.query({
    name: 'audit',
    text: `insert into bare_audit (actor, action, subject_id, details) values ($1, $2, $3, $4)`,
    values: [`webhook:${SENDER.source}`, 'incident.created', id, JSON.stringify({ event_type })],
  });
  await client.query({
    name: 'outbox',
    text: `insert into bare_outbox (type, payload) values ($1, $2)`,
    values: ['incident.created', JSON.stringify({ id, event_type })],
  });
  return { status: 'accepted', incident_id: id };
}
