import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { AuditChainRepository } from './audit-chain.repository.js';

/** Rows are sealed within about a second, and a little later after a long transaction or a backlog. */
export const LATE_SECONDS = 60;

export interface Waiting {
  readonly unsealed: number;
  readonly oldestSeconds: number;
}

/** How many rows wait to be sealed, for how long, and which session they wait for. */
@Injectable()
export class AuditBacklog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly clock: Clock,
  ) {}

  async waiting(): Promise<Waiting> {
    const { unsealed, oldest } = await this.chain.backlog(this.dataSource.manager);
    const age = oldest ? (this.clock.now().getTime() - oldest.getTime()) / 1000 : 0;
    return { unsealed, oldestSeconds: Math.max(0, Math.floor(age)) };
  }

  /** In words, for how long rows have waited and why; undefined while they do not wait for long. */
  async lateness({ oldestSeconds }: Waiting): Promise<string | undefined> {
    if (oldestSeconds <= LATE_SECONDS) return undefined;
    const holder = await this.chain.holderOfHead(this.dataSource.manager);
    const since = `the oldest audit entry that is not sealed is ${oldestSeconds} s old`;
    if (!holder) return since;
    const who = [holder.role, holder.application, holder.address].filter(Boolean).join(', ');
    return `${since}, and the session ${holder.pid} (${who}) holds the end of the chain`;
  }
}
