import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allClients, type Client, CLIENTS, missingPrograms } from './client.ts';
import { missteps } from './judgement.ts';
import { made } from './made-client.ts';
import { endAll, type Place, shell } from './shell.ts';

/**
 * The contract is as good as the clients that come out of it. Each client of openapi/clients is generated from the
 * committed document, compiled, and runs the scenario against one service. Words choose clients by their names;
 * `--all` fails when one is skipped.
 */
const { values: options, positionals: words } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
});

interface Service {
  readonly url: string;
  readonly key: string;
  stop(): Promise<number>;
}
interface ServiceModule {
  readonly startService: (settings: object) => Promise<Service>;
}

// A name that the compiler does not follow: it is a module without types.
const SERVICE: string = '../lib/service.mjs';

const STEPS = (
  JSON.parse(readFileSync(join(CLIENTS, 'scenario.json'), 'utf8')) as { step: string }[]
).map(({ step }) => step);

let failed = 0;

function tell(verdict: string, { name }: Client, words: string): void {
  process.stdout.write(`${verdict.padEnd(7)} ${name}: ${words}\n`);
}

function fail(client: Client, doing: string, error: unknown): void {
  failed += 1;
  tell('FAILED', client, `${doing}\n${error instanceof Error ? error.message : String(error)}`);
}

function withToolchain(clients: Client[]): Client[] {
  return clients.filter((client) => {
    const missing = missingPrograms(client);
    if (missing.length > 0) {
      if (options.all) failed += 1;
      tell(options.all ? 'FAILED' : 'skipped', client, `there is no ${missing.join(', no ')}`);
    }
    return missing.length === 0;
  });
}

/** Two at a time: compilers are what takes the time, and a machine of CI has two processors. */
async function makeAll(clients: Client[]): Promise<Map<Client, Place>> {
  const places = new Map<Client, Place>();
  const queue = [...clients];
  const worker = async () => {
    for (let client = queue.shift(); client; client = queue.shift()) {
      const started = Date.now();
      try {
        places.set(client, await made(client));
        const seconds = Math.round((Date.now() - started) / 1000);
        tell('made', client, `${client.generator}, in ${seconds} s`);
      } catch (error) {
        fail(client, 'could not be generated and compiled as it has to be', error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  return places;
}

async function runScenario(client: Client, { cwd, env }: Place, service: Service): Promise<void> {
  const scenario = {
    SERVICE_URL: service.url,
    ADMIN_KEY: service.key,
    RUN: `${client.name}-${randomBytes(3).toString('hex')}`,
  };
  try {
    const output = await shell(client.run, { cwd, env: { ...env, ...scenario } });
    const problems = missteps(output, STEPS);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    tell('ok', client, `${STEPS.length} steps`);
  } catch (error) {
    fail(client, 'the scenario did not go as it has to', error);
  }
}

async function main(): Promise<void> {
  const chosen = allClients().filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (chosen.length === 0) throw new Error(`No client is called ${words.join(' or ')}.`);
  const places = await makeAll(withToolchain(chosen));
  if (places.size > 0) {
    const { startService } = (await import(SERVICE)) as ServiceModule;
    const service = await startService({
      // What is limited is a key of the scenario; all scenarios share the address and the admin's key.
      RATE_LIMIT_READ: '0',
      RATE_LIMIT_WRITE: '0',
      RATE_LIMIT_PERSON_READ: '0',
      RATE_LIMIT_PERSON_WRITE: '0',
      // Nobody outside is asked, whatever the environment has.
      TRIAGE_PROVIDER: 'rules',
    });
    try {
      for (const [client, place] of places) await runScenario(client, place, service);
    } finally {
      await service.stop();
    }
  }
  if (failed > 0) process.exitCode = 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(1);
  });
}
void main();
