/* The baseline: Fastify and pg by hand, one statement for each request (an action takes two inserts and an update in one
 * transaction), no validation, no authentication, no log. */
import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import pg from 'pg';
import { receive } from './bare-webhooks.ts';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 16 });
const app = fastify();

interface Body {
  readonly incident_type: string;
  readonly severity: string;
  readonly source: string;
  readonly raw_data: object;
}

app.get<{ Params: { id: string } }>('/api/incidents/:id', async ({ params }) => {
  const { rows } = await pool.query({
    name: 'get',
    text: 'select * from bare_incidents where id = $1',
    values: [params.id],
  });
  return { data: rows[0] as unknown };
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

app.post<{ Body: Body }>('/api/incidents', async ({ body }, reply) => {
  const { rows } = await pool.query({
    name: 'create',
    text: `insert into bare_incidents (id, incident_type, severity, source, raw_data)
           values ($1, $2, $3, $4, $5) returning id, status, created_at`,
    values: [
      randomUUID(),
      body.incident_type,
      body.severity,
      body.source,
      JSON.stringify(body.raw_data),
    ],
  });
  return reply.status(201).send({ data: rows[0] as unknown });
});

interface Execute {
  readonly action: string;
  readonly parameters: object;
}

app.post<{ Params: { id: string }; Body: Execute }>(
  '/api/incidents/:id/actions',
  async ({ params, body }) => {
    const id = randomUUID();
    const client = await pool.connect();
    try {
      await client.query('begin');
      await client.query({
        name: 'request',
        text: `insert into bare_actions (id, incident_id, action_type, parameters, status)
               values ($1, $2, $3, $4, 'pending')`,
        values: [id, params.id, body.action, JSON.stringify(body.parameters)],
      });
      await client.query({
        name: 'audit',
        text: `insert into bare_audit (actor, action, subject_id, details) values ($1, $2, $3, $4)`,
        values: ['bench', 'action.completed', id, JSON.stringify(body)],
      });
      const { rows } = await client.query({
        name: 'complete',
        text: `update bare_actions set status = 'completed', result = $2, executed_at = now() where id = $1
               returning id as action_id, status, result`,
        values: [id, JSON.stringify({ success: true, message: 'Not really done.' })],
      });
      await client.query('commit');
      return { data: rows[0] as unknown };
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  },
);

app.register(async (webhooks) => receive(webhooks, pool));

app.listen({ port: 0, host: '127.0.0.1' }).then(
  (url) => process.stdout.write(`${url}\n`),
  () => (process.exitCode = 1),
);
