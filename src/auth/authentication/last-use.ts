import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { PrincipalsRepository } from '../principals/principals.repository.js';
import type { VerifiedCredential } from '../principals/verified-credential.js';

const MINUTE = 60_000;
/** What was used within this time is written in one statement. */
const GATHER_MS = 1_000;

/** Writes when keys and sessions were last used, at most once a minute each and never while a request waits. */
@Injectable()
export class LastUseWriter implements OnApplicationShutdown {
  private readonly logger = new Logger(LastUseWriter.name);
  private readonly keys = new Set<string>();
  private readonly sessions = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly repository: PrincipalsRepository,
    private readonly clock: Clock,
  ) {}

  note(credential: VerifiedCredential): void {
    if (this.clock.now().getTime() - credential.usedAt < MINUTE) return;
    if (credential.kind === 'key') this.keys.add(credential.id);
    else this.sessions.add(credential.sessionId);
    this.timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const [keys, sessions] = [[...this.keys], [...this.sessions]];
    this.keys.clear();
    this.sessions.clear();
    try {
      if (keys.length > 0) await this.repository.noteKeysUsed(keys);
      if (sessions.length > 0) await this.repository.noteSessionsUsed(sessions);
    } catch (error) {
      // People read these times, and nothing else depends on them. The next use is noted again.
      this.logger.warn({ err: error }, 'The last use of keys and sessions could not be written.');
    }
  }
}
