import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { type Client, CLIENTS } from './client.ts';
import { unexpected } from './judgement.ts';
import { openapiGenerator } from './openapi-generator.ts';
import { type Place, shell } from './shell.ts';

/** Ignored by git. What was installed stays here; what is generated is made anew each time. */
const FOLDER = '.clients';
const INSTALLED = '.installed';
const DOCUMENT = resolve('openapi/openapi.json');

/** Generates and compiles a client, and gives the place where its scenario can run. */
export async function made(client: Client): Promise<Place> {
  const cwd = resolve(FOLDER, client.name);
  clear(cwd, client);
  for (const folder of foldersOf(client)) cpSync(folder, cwd, { recursive: true });
  const env = { DOCUMENT, OPENAPI_GENERATOR: await generatorOf(client) };
  const place = { cwd, env };
  await install(client, place);
  let output = '';
  for (const command of [...client.generate, ...client.compile]) {
    output += await shell(command, place);
  }
  const problems = unexpected(output, client.accepted);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return place;
}

function foldersOf({ name, shared }: Client): string[] {
  const own = join(CLIENTS, name);
  return shared === undefined ? [own] : [join(CLIENTS, 'shared', shared), own];
}

function clear(cwd: string, { keeps }: Client): void {
  mkdirSync(cwd, { recursive: true });
  for (const name of readdirSync(cwd)) {
    if (name !== INSTALLED && !keeps.includes(name)) rmSync(join(cwd, name), { recursive: true });
  }
}

async function generatorOf({ generate }: Client): Promise<string> {
  return generate.some((command) => command.includes('$OPENAPI_GENERATOR'))
    ? openapiGenerator(resolve(FOLDER))
    : '';
}

/** Once for each state of what the client pins and says. */
async function install(client: Client, place: Place): Promise<void> {
  const marker = join(place.cwd, INSTALLED);
  const wanted = stateOf(client);
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  rmSync(marker, { force: true });
  for (const kept of client.keeps) rmSync(join(place.cwd, kept), { recursive: true, force: true });
  for (const command of client.install) await shell(command, place);
  writeFileSync(marker, wanted);
}

function stateOf(client: Client): string {
  const hash = createHash('sha256');
  for (const folder of foldersOf(client)) {
    for (const { name } of pinningFiles(folder)) hash.update(readFileSync(join(folder, name)));
  }
  return hash.update(JSON.stringify([client.install, client.keeps])).digest('hex');
}

/** Everything that is no source of a scenario: what is locked, and what is asked for. */
function pinningFiles(folder: string) {
  return readdirSync(folder, { withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() &&
      /\.(?:json|txt|toml|lock|mod|sum|xml)$/.test(entry.name) &&
      entry.name !== 'client.json',
  );
}
