import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { Settings } from '../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { ValidationError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/caller.js';
import { newId } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import type { TargetSort } from '../targets/target-rows.js';
import { SealedConfig } from '../targets/target-secrets.js';
import { CONNECTOR_TYPES } from './connector-registry.js';
import { type ConnectorEntity, DEFAULT_PRIORITY } from './connector.entity.js';
import type { ConnectorInputDto, ConnectorUpdateDto } from './connectors.dto.js';
import { ConnectorsRepository, type NewConnector } from './connectors.repository.js';

@Injectable()
export class ConnectorsService implements OnApplicationBootstrap {
  constructor(
    private readonly transactions: Transactions,
    private readonly connectors: ConnectorsRepository,
    private readonly configs: SealedConfig,
    private readonly audit: AuditLog,
    private readonly settings: Settings,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.settings.databaseUrl === undefined) await this.createFirstSandbox();
  }

  /**
   * Creates a sandbox connector on the first start, so that new users can run actions at once. Only with the embedded
   * database: an operator with an own database sets up connectors.
   */
  async createFirstSandbox(): Promise<void> {
    const row = {
      ...{ id: newId(), name: 'sandbox', type: 'sandbox', enabled: true },
      ...{ priority: DEFAULT_PRIORITY, config: {}, secrets: null, secret_names: [] },
    };
    await this.transactions.run(async (tx) => {
      if (!(await this.connectors.hasEverBeenOne(tx))) await this.insert(tx, 'system', row, {});
    });
  }

  list(request: PageRequest, sort: readonly TargetSort[]): Promise<Page<ConnectorEntity>> {
    return this.connectors.list(request, sort);
  }

  all(): Promise<readonly ConnectorEntity[]> {
    return this.connectors.all();
  }

  get(id: string): Promise<ConnectorEntity> {
    return this.connectors.get(id);
  }

  async create(
    caller: Caller,
    { name, type: typeName, config, ...wanted }: ConnectorInputDto,
    idempotency: Participant<ConnectorEntity>,
  ): Promise<ConnectorEntity> {
    const { enabled = true, priority = DEFAULT_PRIORITY } = wanted;
    const type = CONNECTOR_TYPES.named(typeName);
    const id = newId();
    const stored = this.configs.checkAndSeal(type, id, config);
    const row = { id, name, type: typeName, enabled, priority, ...stored };
    return await this.transactions.run<ConnectorEntity>(
      (tx) => this.insert(tx, caller.name, row, { enabled, priority }),
      caller,
      idempotency,
    );
  }

  async update(caller: Caller, id: string, change: ConnectorUpdateDto): Promise<ConnectorEntity> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    return await this.transactions.run(async (tx) => {
      const before = await this.connectors.get(id, tx);
      const { name = before.name, enabled = before.enabled, priority = before.priority } = change;
      const type = CONNECTOR_TYPES.named(before.type);
      const changed = change.config && this.configs.change(type, before.id, before, change.config);
      const { config, secrets, secret_names } = changed ?? before;
      const content = { name, enabled, priority, config, secrets, secret_names };
      const after = await this.connectors.update(tx, before, content);
      await this.record(tx, caller.name, 'connector.updated', after, {
        enabled,
        priority,
        name_before: before.name === name ? undefined : before.name,
        config_fields: change.config && Object.keys(change.config),
        origins_before: changed?.moved?.from,
        origins: changed?.moved?.to,
      });
      return after;
    }, caller);
  }

  async delete(caller: Caller, id: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      const row = await this.connectors.get(id, tx);
      await this.connectors.markDeleted(tx, id);
      await this.record(tx, caller.name, 'connector.deleted', row, {});
    }, caller);
  }

  private async insert(tx: Tx, actor: string, row: NewConnector, details: object) {
    const made = await this.connectors.insert(tx, row);
    await this.record(tx, actor, 'connector.created', made, details);
    return made;
  }

  /** Details contain field names and origins only, because any other value may be a secret. */
  private async record(
    tx: Tx,
    actor: string,
    action: Extract<AuditAction, `connector.${string}`>,
    { id, name, type }: ConnectorEntity,
    details: object,
  ): Promise<void> {
    const subject = { type: 'connector', id };
    await this.audit.record(tx, { actor, action, subject, details: { name, type, ...details } });
  }
}
