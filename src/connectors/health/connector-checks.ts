import { Semaphore } from '../../platform/concurrency/semaphore.js';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { AuditLog } from '../../audit/audit-log.js';
import type { Caller } from '../../platform/http/caller.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import { DomainEvents } from '../../platform/jobs/events/domain-events.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { ConfiguredConnectors } from '../configured-connectors.js';
import {
  type CheckResult,
  CONNECTOR_RECOVERED,
  CONNECTOR_UNHEALTHY,
  type SealedConnector,
} from '../connector.js';
import type { TestResult } from '../connector.port.js';
import { ConnectorTypes } from '../connector-types.js';
import { ConnectorsRepository } from '../connectors.repository.js';
import { ConnectorsService } from '../connectors.service.js';
import { shownMessage } from '../vendor-text.js';

const PERIOD_SECONDS = 60;
const AT_ONCE = 4;
/** A connector that answers more slowly is degraded. */
const SLOW_MS = 3_000;

type Turn = 'unhealthy' | 'well again';

/** Finds out whether the connectors answer: regularly, on one replica at a time, and when somebody asks for it. */
@Injectable()
export class ConnectorChecks implements OnModuleInit {
  private readonly logger = new Logger(ConnectorChecks.name);

  constructor(
    private readonly transactions: Transactions,
    private readonly connectors: ConnectorsRepository,
    private readonly service: ConnectorsService,
    private readonly configured: ConfiguredConnectors,
    private readonly types: ConnectorTypes,
    private readonly events: DomainEvents,
    private readonly audit: AuditLog,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.every('check-connectors', PERIOD_SECONDS, () => this.checkAll());
  }

  async checkAll(): Promise<void> {
    const due = (await this.connectors.all()).filter((row) => row.enabled && this.isDue(row));
    const places = new Semaphore(AT_ONCE);
    await Promise.all(due.map((row) => places.run(() => this.check(row))));
  }

  /** For somebody who asks. The result is recorded like that of a regular check. */
  async test(
    caller: Caller,
    id: string,
    idempotency: Participant<TestResult>,
  ): Promise<TestResult> {
    const row = await this.service.get(id);
    const result = await this.tested(row);
    let turn: Turn | undefined;
    const answer = await this.transactions.run<TestResult>(
      async (tx) => {
        turn = await this.recordResult(tx, row, resultOf(result));
        const details = { name: row.name, success: result.success };
        const subject = { type: 'connector', id };
        const action = 'connector.tested';
        await this.audit.record(tx, { actor: caller.name, action, subject, details });
        return result;
      },
      caller,
      idempotency,
    );
    this.tell(row, result, turn);
    return answer;
  }

  private async tested(row: SealedConnector): Promise<TestResult> {
    const result = await this.configured.connectorOf(row).test();
    return { ...result, message: shownMessage(result.message) };
  }

  private isDue({ type, lastCheckedAt }: SealedConnector): boolean {
    const checkedEveryMs = this.types.find(type)?.checkedEveryMs ?? 0;
    if (!lastCheckedAt) return true;
    return this.clock.now().getTime() - lastCheckedAt.getTime() >= checkedEveryMs;
  }

  private async check(row: SealedConnector): Promise<void> {
    try {
      const result = resultOf(await this.tested(row));
      const turn = await this.transactions.run((tx) => this.recordResult(tx, row, result));
      this.tell(row, result, turn);
    } catch (err) {
      // A check that fails in this way must not stop those of the other connectors.
      this.logger.error({ err, connector: row.name }, 'A connector could not be checked');
    }
  }

  /**
   * By what others were told, and not by the check before: a connector that somebody mended by another configuration has no check
   * before, and they want to hear of it, too.
   */
  private async recordResult(
    tx: Tx,
    row: SealedConnector,
    result: CheckResult,
  ): Promise<Turn | undefined> {
    const recorded = await this.connectors.recordCheck(tx, row, result);
    if (!recorded || !row.enabled) return undefined;
    const { unhealthyToldAt } = recorded;
    const isUnhealthy = result.status === 'unhealthy';
    if (isUnhealthy === (unhealthyToldAt !== null)) return undefined;
    await this.connectors.markTold(tx, row.id, isUnhealthy);
    const { id, name, type } = row;
    await this.events.record(tx, {
      type: isUnhealthy ? CONNECTOR_UNHEALTHY : CONNECTOR_RECOVERED,
      subject: { type: 'connector', id },
      payload: {
        name,
        type,
        message: result.message,
        unhealthy_since: unhealthyToldAt?.toISOString(),
      },
    });
    return isUnhealthy ? 'unhealthy' : 'well again';
  }

  /** Once for each turn, and only by the replica that recorded it. */
  private tell(
    { name, type }: SealedConnector,
    { message }: Pick<CheckResult, 'message'>,
    turn: Turn | undefined,
  ): void {
    const about = { connector: name, type, reason: message };
    if (turn === 'unhealthy') this.logger.warn(about, 'A connector is unhealthy');
    if (turn === 'well again') this.logger.log(about, 'A connector is well again');
  }
}

function resultOf({ success, message, latencyMs }: TestResult): CheckResult {
  if (!success) return { status: 'unhealthy', message, latencyMs };
  return { status: latencyMs > SLOW_MS ? 'degraded' : 'healthy', message, latencyMs };
}
