import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { Settings } from '../../platform/config/settings.js';
import { hashOf } from '../keys/key-format.js';
import type { Credential } from './credentials.js';

/** METRICS_TOKEN, which opens what must answer while the database is down. */
@Injectable()
export class MetricsToken {
  private readonly hash: Buffer | undefined;

  constructor(settings: Settings) {
    this.hash = settings.metricsToken === undefined ? undefined : hashOf(settings.metricsToken);
  }

  get isSet(): boolean {
    return this.hash !== undefined;
  }

  /** Hashes are compared, so that neither content nor length of the token shows in the time it takes. */
  matches(credential: Credential | undefined): boolean {
    return (
      this.hash !== undefined &&
      credential?.kind === 'bearer' &&
      timingSafeEqual(this.hash, hashOf(credential.token))
    );
  }
}
