import { Logger } from '@nestjs/common';
import type { SealedSecrets } from './sealed-secrets.js';

/** Opens each sealed secret once, however often the sources are read. */
export class OpenedSecrets {
  private readonly logger = new Logger(OpenedSecrets.name);
  private inUse = new Map<string, readonly string[]>();
  private before = new Map<string, readonly string[]>();

  constructor(private readonly secrets: SealedSecrets) {}

  /** The one secret. None when there is none, or none that can be read: then nobody can sign with it. */
  open(source: string, sealed: string | null): readonly string[] {
    if (sealed === null) return [];
    // With the name: what somebody copied from another source in the database must not open here.
    const key = `${source} ${sealed}`;
    const opened = this.inUse.get(key) ?? this.before.get(key) ?? this.openAnew(source, sealed);
    this.inUse.set(key, opened);
    return opened;
  }

  /** Called before each read of all sources: what was not asked for since the last call is forgotten. */
  forgetUnused(): void {
    this.before = this.inUse;
    this.inUse = new Map();
  }

  private openAnew(source: string, sealed: string): readonly string[] {
    const opened = this.secrets.open(source, sealed);
    if (opened !== undefined) return [opened];
    this.logger.error({ source }, 'A secret of a webhook source cannot be read: set it anew');
    return [];
  }
}
