import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../platform/clock.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import type { AuditQueryDto, AuditVerificationDto } from './audit.dto.js';
import { AuditRepository } from './audit.repository.js';
import { AuditChainRepository } from './chain/audit-chain.repository.js';
import { AuditSealingLoop } from './chain/audit-sealer.js';
import { AuditVerifier } from './chain/audit-verifier.js';
import { AuditWitness } from './chain/audit-witness.js';

@Injectable()
export class AuditService {
  /**
   * Verifies the whole trail, so at most one run is active. Callers during a run share the next run, which sees all changes
   * before their calls.
   */
  private readonly runs = new Batcher<undefined, AuditVerificationDto>(
    async (calls) => {
      const found = await this.verifier.verify();
      return calls.map(() => found);
    },
    Infinity,
    1,
  );

  constructor(
    private readonly records: AuditRepository,
    private readonly verifier: AuditVerifier,
  ) {}

  list(query: AuditQueryDto) {
    return this.records.list(query);
  }

  verify(): Promise<AuditVerificationDto> {
    return this.runs.submit(undefined);
  }
}

/** Rows are normally sealed within 1 s. A long transaction or a backlog delays the seal. */
const LATE_SECONDS = 60;

/** Reports in health and metrics whether the trail is unchanged and sealed in time. */
@Injectable()
export class AuditSignals implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly clock: Clock,
    private readonly sealing: AuditSealingLoop,
    private readonly witness: AuditWitness,
    private readonly verifier: AuditVerifier,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.components.register('audit', () => this.health());
    this.gauges.register('audit_unsealed', async () => (await this.backlog()).unsealed);
    this.gauges.register(
      'audit_oldest_unsealed_seconds',
      async () => (await this.backlog()).oldest_unsealed_seconds,
    );
    this.gauges.register('audit_chain_ok', async () => {
      // Absent while the database is unreachable, because an old value may be wrong.
      await this.chain.readEnd(this.dataSource.manager);
      return (await this.damage()) === undefined ? 1 : 0;
    });
  }

  private async damage(): Promise<string | undefined> {
    if (this.sealing.broken !== undefined) return this.sealing.broken;
    if (this.witness.rewound) {
      return 'The audit trail was set back to an earlier state. If a backup was restored, run npm run audit -- accept-head.';
    }
    return !(await this.verifier.foundInvalid(this.dataSource.manager))
      ? undefined
      : 'The last verification found that the audit trail was changed: see GET /api/audit/verify.';
  }

  private async health(): Promise<ComponentHealth> {
    const backlog = await this.backlog();
    const age = backlog.oldest_unsealed_seconds;
    const damage = await this.damage();
    if (damage !== undefined) return { status: 'unhealthy', message: damage, ...backlog };
    const message =
      age > LATE_SECONDS ? `the oldest unsealed audit entry is ${age} s old` : this.witness.fault;
    if (message !== undefined) return { status: 'degraded', message, ...backlog };
    return { status: 'healthy', ...backlog };
  }

  private async backlog() {
    const { unsealed, oldest } = await this.chain.backlog(this.dataSource.manager);
    const age = oldest ? (this.clock.now().getTime() - oldest.getTime()) / 1000 : 0;
    return { unsealed, oldest_unsealed_seconds: Math.max(0, Math.floor(age)) };
  }
}
