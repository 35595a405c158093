// SQL: reads a page and the total in one statement. Only rows that may be unsealed are counted one by one.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { firstIdAt } from '../platform/ids.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import type { Page } from '../platform/paging/page.js';
import type { AuditQueryDto, AuditRecordDto } from './audit.dto.js';
import { subjectId } from './audit-log.js';
import {
  AuditChainRepository,
  BEYOND_SNAPSHOT,
  NOT_SEALED,
} from './chain/audit-chain.repository.js';
import { AuditTrail } from './chain/audit-trail.js';
import { AuditWitness } from './chain/audit-witness.js';

/** `hash` is null until the entry is sealed. */
type Listed = Omit<AuditRecordDto, 'hash'> & { readonly hash: string | null };

/** Age of a late unsealed row. Normally, rows are sealed within 1 s; a long transaction or a backlog delays them. */
const LATE_SECONDS = 60;

@Injectable()
export class AuditService implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly trail: AuditTrail,
    private readonly witness: AuditWitness,
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
    this.gauges.register('audit_chain_ok', async () =>
      (await this.damage()) === undefined ? 1 : 0,
    );
  }

  /** Throws while the database is unreachable, because the last known result may be wrong. */
  private async damage(): Promise<string | undefined> {
    const foundInvalid = await this.trail.foundInvalid(this.dataSource.manager);
    if (this.trail.broken !== undefined) return this.trail.broken;
    if (this.witness.rewound) {
      return 'The audit trail was set back to an earlier state. If a backup was restored, run npm run audit -- accept-head.';
    }
    if (!foundInvalid) return undefined;
    return 'The last verification found that the audit trail was changed: see GET /api/audit/verify.';
  }

  private async health(): Promise<ComponentHealth> {
    const backlog = await this.backlog();
    const age = backlog.oldest_unsealed_seconds;
    const damage = await this.damage();
    if (damage !== undefined) return { status: 'unhealthy', message: damage, ...backlog };
    const message =
      age > LATE_SECONDS ? `the oldest unsealed audit entry is ${age} s old` : this.witness.fault;
    return { status: message === undefined ? 'healthy' : 'degraded', message, ...backlog };
  }

  private backlog() {
    return this.chain.backlog(this.dataSource.manager);
  }

  async list({ page, per_page, sort, ...filter }: AuditQueryDto): Promise<Page<Listed>> {
    const values: unknown[] = [];
    const add = (value: unknown) => `$${values.push(value)}`;
    const conditions = conditionsOf(filter, add);
    const total = conditions
      ? `select count(*) as total from audit_log a ${conditions}`
      : await this.totalOfAll(values);
    const direction = sort.startsWith('-') ? 'desc' : 'asc';
    const [first, ...others] = await this.dataSource.query<(Listed & { total: string })[]>(
      `select counted.total, page.*, encode(s.hash, 'hex') as hash from (${total}) counted
       left join (
         select id, at, actor, action, json_build_object('type', subject_type, 'id', subject_id) as subject, details
         from audit_log a ${conditions}
         order by id ${direction} offset ${add((page - 1) * per_page)} limit ${add(per_page)}) page on true
       left join audit_seals s on s.audit_id = page.id
       order by page.id ${direction}`,
      values,
    );
    const items = first?.id ? [first, ...others] : [];
    return { items, total: Number(first?.total) };
  }

  /** Adds the number of the last seal, which is the number of sealed rows, and the number of unsealed rows. */
  private async totalOfAll(values: unknown[]): Promise<string> {
    const head = await this.chain.readHead(this.dataSource.manager);
    values.push(head?.sealed_to ?? null);
    return `select coalesce((select seq from audit_chain), 0) + count(*) as total from audit_log a where ${BEYOND_SNAPSHOT} and ${NOT_SEALED}`;
  }
}

/** A subject filter is a type, an id or `type:id`; an id may contain colons. */
function conditionsOf(
  { actor, action, subject, from, to }: Omit<AuditQueryDto, 'page' | 'per_page' | 'sort'>,
  add: (value: unknown) => string,
): string {
  const [, type, id] = /^([^:]*):(.*)$/s.exec(subject ?? '') ?? [];
  const conditions = [
    actor && `a.actor = ${add(actor)}`,
    action && `a.action = ${add(action)}`,
    type !== undefined && `a.subject_type = ${add(type)} and a.subject_id = ${add(subjectId(id!))}`,
    type === undefined &&
      subject &&
      `(a.subject_type = ${add(subject)} or a.subject_id = ${add(subjectId(subject))})`,
    from && `a.id >= ${add(firstIdAt(Date.parse(from)))}`,
    to && `a.id < ${add(firstIdAt(Date.parse(to) + 1))}`,
  ].filter(Boolean);
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}
