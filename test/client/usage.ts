import { getDetailedHealth, getHealth, getReadiness } from './generated/index.js';
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
