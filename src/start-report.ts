import type { Logger } from 'pino';
import { version } from './platform/config/version.js';

export interface Started {
  /** Where the data is. */
  readonly place: string;
  /** Who can log in. */
  readonly who: string;
  readonly url: string;
  readonly readyAfterMs: number;
}

/** What a person reads who started it in a terminal. */
export function reportFor(started: Started): string {
  const { place, who, url, readyAfterMs } = started;
  return [
    `Incident Triage Service ${version}`,
    `Database   ${place}`,
    `Log in as  ${who}`,
    `Addresses  API ${url}/api, documentation ${url}/docs`,
    `Ready      after ${(readyAfterMs / 1000).toFixed(1)} s; Ctrl+C stops it`,
    '',
  ].join('\n');
}

/** The same for programs that keep logs. */
export function logStart(logger: Logger, { place, who, url, readyAfterMs }: Started): void {
  logger.info({ who_can_log_in: who }, `Who can log in: ${who}.`);
  logger.info(
    { version, docs: `${url}/docs`, ready_after_ms: readyAfterMs, database: place },
    `Listening on ${url}`,
  );
}
