import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { parseArgs, promisify, stripVTControlCharacters } from 'node:util';

/*
 * Generates each client of openapi/clients from openapi/openapi.json, compiles it, and runs its scenario against one
 * service. Arguments select clients by name. `--all` fails if the toolchain of a client is missing.
 */

/** Fields of the client.json of a folder. openapi/clients/README.md describes them. */
interface Client {
  readonly name: string;
  readonly generator: string;
  readonly needs: readonly string[];
  readonly shared?: string;
  readonly seconds: number;
  readonly keeps: readonly string[];
  readonly install: readonly string[];
  readonly generate: readonly string[];
  readonly compile: readonly string[];
  readonly run: string;
  readonly accepted: readonly { readonly line: string; readonly because: string }[];
}

type Environment = Readonly<Record<string, string>>;

interface Service {
  readonly url: string;
  readonly key: string;
  stop(): Promise<number>;
}

const CLIENTS = 'openapi/clients';
const BUILT = resolve('.clients');
const COMMAND_TIMEOUT_MS = 480_000;
const WARNING = /(?<!\+)\b(?:warn|warning|warnings|deprecated)\b/i;
// The import is dynamic, because the module has no types.
const SERVICE: string = './lib/service.mjs';

const readJson = <T>(file: string): T => JSON.parse(readFileSync(join(CLIENTS, file), 'utf8')) as T;
const steps = readJson<{ step: string }[]>('scenario.json').map(({ step }) => step);
const { values: options, positionals: words } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
});

function say(verdict: string, { name }: Client, text: string): void {
  process.stdout.write(`${verdict.padEnd(7)} ${name}: ${text}\n`);
  if (verdict === 'FAILED') process.exitCode = 1;
}

/** Runs a command of a client in its folder and returns its output without colours. */
async function shell(command: string, cwd: string, env: Environment = {}): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command], {
      cwd,
      env: { ...process.env, ...env },
      maxBuffer: 2 ** 28,
      timeout: COMMAND_TIMEOUT_MS,
    });
    return stripVTControlCharacters(`${stdout}\n${stderr}`);
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & Record<string, string>;
    throw new Error([message, stdout, stderr].join('\n'), { cause: error });
  }
}

/**
 * Downloads openapi-generator, which several clients share. The file comes from Maven and is verified by its checksum.
 */
async function openapiGenerator(): Promise<string> {
  const { version, sha256 } = readJson<Environment>('openapi-generator.json');
  const jar = join(BUILT, `openapi-generator-cli-${version}.jar`);
  if (!existsSync(jar)) {
    const artifact = `org.openapitools:openapi-generator-cli:${version}`;
    const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
    await shell(`mvn -q -B ${plugin} -Dartifact=${artifact} -DoutputDirectory="$PWD"`, BUILT);
  }
  const found = createHash('sha256').update(readFileSync(jar)).digest('hex');
  if (found === sha256) return jar;
  rmSync(jar);
  throw new Error(`${jar} has the checksum ${found}, and not ${sha256}.`);
}

/** Generates and compiles a client. Returns its folder and environment. */
async function make(client: Client, generator: () => Promise<string>) {
  const { name, shared, keeps, install, generate, compile, accepted } = client;
  const cwd = join(BUILT, name);
  mkdirSync(cwd, { recursive: true });
  for (const file of readdirSync(cwd)) {
    if (!keeps.includes(file)) rmSync(join(cwd, file), { recursive: true });
  }
  for (const folder of [...(shared ? [join('shared', shared)] : []), name]) {
    cpSync(join(CLIENTS, folder), cwd, { recursive: true });
  }
  const env: Record<string, string> = { DOCUMENT: resolve('openapi/openapi.json') };
  if (generate.some((command) => command.includes('$OPENAPI_GENERATOR'))) {
    env['OPENAPI_GENERATOR'] = await generator();
  }
  for (const command of install) await shell(command, cwd, env);
  let output = '';
  for (const command of [...generate, ...compile]) output += await shell(command, cwd, env);
  const warnings = output.split('\n').filter((line) => WARNING.test(line));
  const problems = [
    ...warnings.filter((warning) => !accepted.some(({ line }) => warning.includes(line))),
    ...accepted
      .filter(({ line }) => !warnings.some((warning) => warning.includes(line)))
      .map(({ line }) => `accepted but not there: ${line}`),
  ];
  if (problems.length > 0) throw new Error(problems.map((line) => line.trim()).join('\n'));
  return { client, cwd, env };
}

type Made = Awaited<ReturnType<typeof make>>;

async function runScenario({ client, cwd, env }: Made, { url, key }: Service): Promise<void> {
  const run = `${client.name}-${randomBytes(3).toString('hex')}`;
  const output = await shell(client.run, cwd, {
    ...env,
    SERVICE_URL: url,
    ADMIN_KEY: key,
    RUN: run,
  });
  const taken = [...output.matchAll(/^\s*ok (.+?)\s*$/gm)].map(([, step]) => step);
  if (taken.join('\n') !== steps.join('\n')) {
    throw new Error(`took the steps ${taken.join(', ')} instead of ${steps.join(', ')}`);
  }
  say('ok', client, `${steps.length} steps`);
}

function chosenClients(): Client[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const isMissing = (program: string) =>
    !folders.some((folder) => existsSync(join(folder, program)));
  return readdirSync(CLIENTS)
    .filter((name) => existsSync(join(CLIENTS, name, 'client.json')))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .map((name) => ({ ...readJson<Client>(join(name, 'client.json')), name }))
    .filter((client) => {
      const missing = client.needs.filter(isMissing);
      if (missing.length === 0) return true;
      say(options.all ? 'FAILED' : 'skipped', client, `there is no ${missing.join(', no ')}`);
      return false;
    })
    .sort((one, other) => other.seconds - one.seconds);
}

async function main(): Promise<void> {
  mkdirSync(BUILT, { recursive: true });
  let jar: Promise<string> | undefined;
  const generator = () => (jar ??= openapiGenerator());
  const queue = chosenClients();
  const made: Made[] = [];
  const attempt = async (client: Client, work: () => Promise<unknown>): Promise<void> => {
    await work().catch((error: unknown) => say('FAILED', client, String(error)));
  };
  const worker = async () => {
    for (let client = queue.shift(); client; client = queue.shift()) {
      const current = client;
      await attempt(current, async () => {
        made.push(await make(current, generator));
        say('made', current, current.generator);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  if (made.length === 0) return;
  const { startService } = (await import(SERVICE)) as {
    readonly startService: (settings: object) => Promise<Service>;
  };
  // The service has no rate limits, because all scenarios share the address and the key of the admin. A scenario tests
  // the limits with its own key.
  const service = await startService({
    RATE_LIMIT_READ: '0',
    RATE_LIMIT_WRITE: '0',
    RATE_LIMIT_PERSON_READ: '0',
    RATE_LIMIT_PERSON_WRITE: '0',
    TRIAGE_PROVIDER: 'rules',
  });
  try {
    for (const one of made) await attempt(one.client, () => runScenario(one, service));
  } finally {
    await service.stop();
  }
}

void main();
