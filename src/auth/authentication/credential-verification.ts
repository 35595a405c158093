import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { Clock } from '../../platform/clock.js';
import { readKey } from '../keys/key-format.js';
import { sessionHashOf } from '../sessions/session.js';
import { CredentialCache } from './credential-cache.js';
import { LastUseWriter } from './last-use.js';
import { PrincipalsRepository } from '../principals/principals.repository.js';
import type { VerifiedKey, VerifiedSession } from '../principals/verified-credential.js';

/** Finds the principal of a credential, without a read of the database for each request: see docs/adr/0007. */
@Injectable()
export class CredentialVerification {
  private readonly keys: CredentialCache<VerifiedKey>;
  private readonly sessions: CredentialCache<VerifiedSession>;

  constructor(
    repository: PrincipalsRepository,
    private readonly lastUse: LastUseWriter,
    private readonly clock: Clock,
  ) {
    this.keys = new CredentialCache((prefixes) => repository.findKeys(prefixes));
    this.sessions = new CredentialCache((hashes) => repository.findSessions(hashes));
  }

  async verifyKey(text: string): Promise<VerifiedKey | undefined> {
    const given = readKey(text);
    if (!given) return undefined;
    const known = await this.keys.get(given.prefix);
    if (!known || !timingSafeEqual(known.secretHash, given.hash)) return undefined;
    return this.inTime(known);
  }

  async verifySession(token: string): Promise<VerifiedSession | undefined> {
    const hash = sessionHashOf(token);
    if (hash === undefined) return undefined;
    const known = await this.sessions.get(hash);
    return known && this.inTime(known);
  }

  /** On this replica the key ends at once; the others notice within a second. */
  forgetKey(prefix: string): void {
    this.keys.forget(prefix);
  }

  forgetSession(token: string): void {
    const hash = sessionHashOf(token);
    if (hash !== undefined) this.sessions.forget(hash);
  }

  forgetSessionOf(id: string): void {
    this.sessions.forgetWhere((session) => session.sessionId === id);
  }

  /** The sessions of the user, and the keys that the user owns. */
  forgetUser(id: string): void {
    this.sessions.forgetWhere((session) => session.id === id);
    this.keys.forgetWhere((key) => key.personId === id);
  }

  private inTime<V extends VerifiedKey | VerifiedSession>(verified: V): V | undefined {
    if (verified.endsAt !== undefined && verified.endsAt <= this.clock.now().getTime()) {
      return undefined;
    }
    this.lastUse.note(verified);
    return verified;
  }
}
