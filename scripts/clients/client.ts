import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What a folder of openapi/clients says of its client, in its client.json. */
export interface Client {
  /** The name of the folder. */
  readonly name: string;
  /** The generator, with the version that is pinned. */
  readonly generator: string;
  /** Programs that have to be on the path. */
  readonly needs: readonly string[];
  /** The folder of openapi/clients/shared whose files come with its own. */
  readonly shared?: string;
  /** How long it takes with empty caches, so that the slowest begin first. */
  readonly seconds: number;
  /** What `install` leaves in its folder, to be kept for the next time. */
  readonly keeps: readonly string[];
  /** Commands for a shell, as a reader would type them. */
  readonly install: readonly string[];
  readonly generate: readonly string[];
  readonly compile: readonly string[];
  readonly run: string;
  readonly accepted: readonly AcceptedWarning[];
}

/** A warning that may be there, because nothing that the document says could take it away. */
export interface AcceptedWarning {
  /** A part of its line. */
  readonly line: string;
  readonly because: string;
}

export const CLIENTS = 'openapi/clients';

export function allClients(): Client[] {
  return readdirSync(CLIENTS)
    .filter((name) => existsSync(join(CLIENTS, name, 'client.json')))
    .map((name) => ({
      ...(JSON.parse(readFileSync(join(CLIENTS, name, 'client.json'), 'utf8')) as Client),
      name,
    }))
    .sort((one, other) => other.seconds - one.seconds);
}

export function missingPrograms({ needs }: Client): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return needs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
}
