import {
  createIncident,
  type ErrorEnvelope,
  getDetailedHealth,
  getHealth,
  getIncident,
  getReadiness,
  type GivenVerdict,
  type IncidentSummary,
  listIncidents,
  type PlaybookRun,
  runPlaybook,
  updateIncident,
} from './generated/index.js';
import { createClient } from './generated/client/index.js';

/*
 * How an integrator uses the generated client. It is compiled, not run: what matters here is that names, parameters and
 * answers have the types that one expects.
 */
export function connect(baseUrl: string, apiKey: string) {
  return createClient({ baseUrl, auth: () => apiKey });
}

type Client = ReturnType<typeof connect>;

export async function isReady(client: Client): Promise<boolean> {
  const { data } = await getReadiness({ client });
  return data?.status === 'ready';
}

export async function versionOf(client: Client): Promise<string> {
  const { data } = await getHealth({ client, throwOnError: true });
  return data.version;
}

/** The parts that are not well, or the reason why the service does not tell. */
export async function ailingParts(client: Client): Promise<string[]> {
  const { data, error } = await getDetailedHealth({ client });
  if (!data)
    return ['error' in error ? `${error.error.code}: ${error.error.message}` : error.status];
  return Object.entries(data.components)
    .filter(([, { status }]) => status === 'unhealthy' || status === 'degraded')
    .map(([name]) => name);
}

/** Twice the same report makes one incident: the mail gateway tries again when it got no answer. */
export async function report(client: Client, messageId: string, sender: string): Promise<string> {
  const { data, error } = await createIncident({
    client,
    body: {
      incident_type: 'phishing',
      source: 'email-gateway',
      severity: 'high',
      raw_data: { message_id: messageId, sender },
    },
    headers: { 'Idempotency-Key': messageId },
  });
  if (!data) throw new Error(reasonsOf(error));
  return data.data.id;
}

/** Every incident that waits for somebody, page by page, the gravest first. */
export async function* waiting(client: Client): AsyncGenerator<IncidentSummary> {
  for (let page = 1; ; page += 1) {
    const { data } = await listIncidents({
      client,
      query: { status: 'open,triaged', sort: '-severity', page, per_page: 100 },
      throwOnError: true,
    });
    yield* data.data;
    if (page * data.meta.per_page >= data.meta.total) return;
  }
}

/** Gives a verdict unless somebody has changed the incident since it was read. */
export async function judge(client: Client, id: string, verdict: GivenVerdict): Promise<boolean> {
  const { response } = await getIncident({ client, path: { id } });
  const { data, error } = await updateIncident({
    client,
    path: { id },
    body: { verdict, recommended_actions: ['quarantine_email'] },
    headers: { 'If-Match': response?.headers.get('etag') ?? '*' },
  });
  if (data) return data.data.status === 'triaged' && data.data.verdict?.decided_by !== undefined;
  if (error.error.code === 'precondition_failed') return false;
  throw new Error(reasonsOf(error));
}

/** The steps that a run of the playbook would take, and then the run: it may wait for people, and is asked for again by its id. */
export async function contain(client: Client, playbook: string, incident: string): Promise<string> {
  const path = { id: playbook };
  const body = { incident_id: incident, dry_run: true };
  const { data: told } = await runPlaybook({ client, path, body, throwOnError: true });
  const failing = told.data.dry_run && told.data.steps.find(({ decision }) => decision === 'error');
  if (failing) throw new Error(`${failing.name}: ${failing.error}`);
  const { data, error } = await runPlaybook({ client, path, body: { incident_id: incident } });
  if (!data) throw new Error(reasonsOf(error));
  if (data.data.dry_run) throw new Error('Nothing was done.');
  const run: PlaybookRun = data.data;
  return run.run_id;
}

function reasonsOf({ error }: ErrorEnvelope): string {
  const fields = error.details?.errors?.map(({ field, message }) => `${field}: ${message}`) ?? [];
  return [error.code, ...fields].join('\n');
}
