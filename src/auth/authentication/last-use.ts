import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { VerifiedCredential } from '../principals/verified-credential.js';

const MINUTE = 60_000;
/** What was used within this time is written in one statement. */
const GATHER_MS = 1_000;

// The condition is for the other replicas, which see the same key being used.
const KEYS_USED: Statement = {
  name: 'auth_keys_used',
  text: `update api_keys set last_used_at = now()
    where id = any ($1::uuid[]) and (last_used_at is null or last_used_at <= now() - interval '1 minute')`,
};
const SESSIONS_USED: Statement = {
  name: 'auth_sessions_used',
  text: `update sessions set last_seen_at = now()
    where id = any ($1::uuid[]) and last_seen_at <= now() - interval '1 minute'`,
};

/** Writes when keys and sessions were last used, at most once a minute each and never while a request waits. */
@Injectable()
export class LastUseWriter implements OnApplicationShutdown {
  private readonly logger = new Logger(LastUseWriter.name);
  private readonly keys = new Set<string>();
  private readonly sessions = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  note(verified: VerifiedCredential): void {
    if (this.clock.now().getTime() - verified.usedAt < MINUTE) return;
    if (verified.kind === 'key') this.keys.add(verified.id);
    else this.sessions.add(verified.sessionId);
    this.timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      await this.writeIds(KEYS_USED, this.keys);
      await this.writeIds(SESSIONS_USED, this.sessions);
    } catch (error) {
      // Nothing depends on it but what people read; the next use notes it again.
      this.logger.warn({ err: error }, 'The last use of keys and sessions could not be written.');
    }
  }

  private async writeIds(statement: Statement, ids: Set<string>): Promise<void> {
    if (ids.size === 0) return;
    const values = [...ids];
    ids.clear();
    await this.statements.rows(statement, [values]);
  }
}
