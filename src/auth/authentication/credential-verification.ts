import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { Clock } from '../../platform/clock.js';
import { PrincipalsRepository } from '../principals.js';
import type { VerifiedCredential } from '../principal.js';
import { readKey } from '../keys/key-format.js';
import { sessionHashOf } from '../sessions/session.entity.js';
import { CredentialCache } from './credential-cache.js';

const MINUTE = 60_000;
/** Uses within this time are written by one statement. */
const GATHER_MS = 1_000;

/**
 * Verifies credentials without a database read per request: see docs/adr/0007. Stores the last use of each credential
 * at most once per minute, without delaying requests.
 */
@Injectable()
export class CredentialVerification implements OnApplicationShutdown {
  private readonly logger = new Logger(CredentialVerification.name);
  private readonly used = { keys: new Set<string>(), sessions: new Set<string>() };
  private timer: NodeJS.Timeout | undefined;
  private readonly keys: CredentialCache<VerifiedCredential>;
  private readonly sessions: CredentialCache<VerifiedCredential>;

  constructor(
    private readonly repository: PrincipalsRepository,
    private readonly clock: Clock,
  ) {
    this.keys = new CredentialCache((prefixes) => repository.find('keys', prefixes));
    this.sessions = new CredentialCache((hashes) => repository.find('sessions', hashes));
  }

  async verifyKey(text: string): Promise<VerifiedCredential | undefined> {
    const given = readKey(text);
    if (!given) return undefined;
    const known = await this.keys.get(given.prefix);
    if (!known?.secretHash || !timingSafeEqual(known.secretHash, given.hash)) return undefined;
    return this.inTime(known);
  }

  async verifySession(token: string): Promise<VerifiedCredential | undefined> {
    const hash = sessionHashOf(token);
    if (hash === undefined) return undefined;
    const known = await this.sessions.get(hash);
    return known && this.inTime(known);
  }

  /** Takes effect immediately on this replica, and within 1 s on the other replicas. */
  forgetKey(prefix: string): void {
    this.keys.forget(prefix);
  }

  forgetSession(hash: string): void {
    this.sessions.forget(hash);
  }

  forgetSessionOf(id: string): void {
    this.sessions.forgetWhere(({ identity }) => identity.sessionId === id);
  }

  forgetUser(id: string): void {
    this.sessions.forgetWhere(({ identity }) => identity.id === id);
    this.keys.forgetWhere(({ identity }) => identity.personId === id);
  }

  private inTime(verified: VerifiedCredential): VerifiedCredential | undefined {
    if (verified.endsAt && verified.endsAt <= this.clock.now()) return undefined;
    this.noteUse(verified);
    return verified;
  }

  private noteUse({ identity: { id, sessionId }, usedAt }: VerifiedCredential): void {
    if (usedAt && this.clock.now().getTime() - usedAt.getTime() < MINUTE) return;
    if (sessionId === undefined) this.used.keys.add(id);
    else this.used.sessions.add(sessionId);
    this.timer ??= setTimeout(() => void this.writeUses(), GATHER_MS).unref();
  }

  private async writeUses(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    try {
      for (const kind of ['keys', 'sessions'] as const) {
        const ids = [...this.used[kind]];
        this.used[kind].clear();
        if (ids.length > 0) await this.repository.noteUsed(kind, ids);
      }
    } catch (error) {
      // The times are only displayed. The next use is stored again.
      this.logger.warn({ err: error }, 'The last use of keys and sessions could not be written.');
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.writeUses();
  }
}
