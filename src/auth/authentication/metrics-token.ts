import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { Settings } from '../../platform/config/settings.js';
import { hashOf } from '../keys/key-format.js';
import type { Credential } from './credentials.js';

/** METRICS_TOKEN opens metrics and health: they have to answer also while the database is down. */
@Injectable()
export class MetricsToken {
  private readonly hash: Buffer | undefined;

  constructor(settings: Settings) {
    this.hash = settings.metricsToken === undefined ? undefined : hashOf(settings.metricsToken);
  }

  get isSet(): boolean {
    return this.hash !== undefined;
  }

  /** Hashes are compared, so that the time it takes tells neither the content nor the length of the token. */
  matches(credential: Credential | undefined): boolean {
    return (
      this.hash !== undefined &&
      credential?.kind === 'bearer' &&
      timingSafeEqual(this.hash, hashOf(credential.token))
    );
  }
}
