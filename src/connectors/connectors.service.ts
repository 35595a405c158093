import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { Settings } from '../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { ValidationError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/caller.js';
import { newId } from '../platform/ids.js';
import { SealedConfig } from '../targets/target-secrets.js';
import { CONNECTOR_TYPES } from './connector-registry.js';
import { type ConnectorEntity, DEFAULT_PRIORITY } from './connector.entity.js';
import type { ConnectorInputDto, ConnectorUpdateDto } from './connectors.dto.js';
import { ConnectorsRepository } from './connectors.repository.js';

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
    const kind = { name: 'sandbox', type: 'sandbox', config: {} };
    const row = { id: newId(), ...kind, enabled: true, priority: DEFAULT_PRIORITY };
    await this.transactions.run(async (tx) => {
      if (!(await this.connectors.hasEverBeenOne(tx))) await this.insert(tx, 'system', row);
    });
  }

  async create(
    caller: Caller,
    { name, type: typeName, config, ...wanted }: ConnectorInputDto,
    idempotency: Participant<ConnectorEntity>,
  ): Promise<ConnectorEntity> {
    const { enabled = true, priority = DEFAULT_PRIORITY } = wanted;
    const id = newId();
    const { stored, details } = this.configs.create(CONNECTOR_TYPES.named(typeName), id, config);
    const row = { id, name, type: typeName, enabled, priority, ...stored };
    return await this.transactions.run<ConnectorEntity>(
      (tx) => this.insert(tx, caller.name, row, details),
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
      const changed = change.config && this.configs.change(type, id, before, change.config);
      const { config, secrets, secret_names } = changed?.stored ?? before;
      const content = { name, enabled, priority, config, secrets, secret_names };
      const after = await this.connectors.update(tx, before, content);
      await this.record(tx, caller.name, 'connector.updated', after, {
        name_before: before.name === name ? undefined : before.name,
        config_fields: change.config && Object.keys(change.config),
        ...changed?.details,
      });
      return after;
    }, caller);
  }

  async delete(caller: Caller, id: string): Promise<void> {
    await this.transactions.run(async (tx) => {
      const row = await this.connectors.get(id, tx);
      await this.connectors.markDeleted(tx, id);
      await this.record(tx, caller.name, 'connector.deleted', row);
    }, caller);
  }

  private async insert(
    tx: Tx,
    actor: string,
    row: Parameters<ConnectorsRepository['insert']>[1],
    more = {},
  ): Promise<ConnectorEntity> {
    const made = await this.connectors.insert(tx, row);
    await this.record(tx, actor, 'connector.created', made, more);
    return made;
  }

  /** Details contain field names and destinations only, because any other value may be a secret. */
  private async record(
    tx: Tx,
    actor: string,
    action: Extract<AuditAction, `connector.${string}`>,
    { id, name, type, enabled, priority }: ConnectorEntity,
    more = {},
  ): Promise<void> {
    const subject = { type: 'connector', id };
    const details = { name, type, enabled, priority, ...more };
    await this.audit.record(tx, { actor, action, subject, details });
  }
}
