import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { type AuditQuery, AuditRepository } from './audit.repository.js';
import { AuditChainRepository } from './chain/audit-chain.repository.js';
import { AuditBacklog, AuditSealingLoop } from './chain/audit-sealer.js';
import { AuditVerifier, type Verification } from './chain/audit-verifier.js';
import { AuditAnchor, AuditWitness } from './chain/audit-witness.js';

@Injectable()
export class AuditService {
  private running: Promise<Verification> | undefined;
  private next: Promise<Verification> | undefined;

  constructor(
    private readonly records: AuditRepository,
    private readonly verifier: AuditVerifier,
  ) {}

  list(query: AuditQuery) {
    return this.records.list(query);
  }

  /**
   * A run reads the whole trail, so at most one runs. Callers that come meanwhile share the next run, which sees all changes
   * before their calls.
   */
  async verify(): Promise<Verification> {
    if (!this.running) return await this.start();
    this.next ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.start();
      });
    return await this.next;
  }

  private start(): Promise<Verification> {
    this.running = this.verifier.verify().finally(() => (this.running = undefined));
    return this.running;
  }
}

/** Shows in health and metrics whether the trail is sealed in time and unchanged. */
@Injectable()
export class AuditSignals implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly backlog: AuditBacklog,
    private readonly sealing: AuditSealingLoop,
    private readonly witness: AuditWitness,
    private readonly verifier: AuditVerifier,
    private readonly anchor: AuditAnchor,
    private readonly components: HealthComponents,
    @InjectMetric('audit_unsealed') private readonly unsealed: Gauge,
    @InjectMetric('audit_oldest_unsealed_seconds') private readonly oldestUnsealed: Gauge,
    @InjectMetric('audit_chain_ok') private readonly chainOk: Gauge,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.components.register('audit', () => this.health());
    this.gauges.register(this.unsealed, async () => (await this.backlog.waiting()).unsealed);
    this.gauges.register(
      this.oldestUnsealed,
      async () => (await this.backlog.waiting()).oldestSeconds,
    );
    this.gauges.register(this.chainOk, async () => {
      // Absent while the database is unreachable: an old value may be wrong.
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
    const waiting = await this.backlog.waiting();
    const { unsealed, oldestSeconds: oldest_unsealed_seconds } = waiting;
    const numbers = { unsealed, oldest_unsealed_seconds };
    const damage = await this.damage();
    if (damage !== undefined) return { status: 'unhealthy', message: damage, ...numbers };
    const message = this.backlog.lateness(waiting) ?? this.anchor.fault;
    if (message !== undefined) return { status: 'degraded', message, ...numbers };
    return { status: 'healthy', ...numbers };
  }
}
