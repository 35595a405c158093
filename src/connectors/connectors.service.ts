import { AppError, NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { AuditAction } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Caller } from '../platform/http/caller.js';
import { isUuid, newId } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import type { Config } from '../targets/target-config.js';
import { type ChangedConfig, SealedConfig } from '../targets/target-secrets.js';
import type { ConnectorEntity } from './connector.entity.js';
import { CONNECTOR_TYPES } from './connector-registry.js';
import { ConnectorsRepository, type ConnectorSort } from './connectors.repository.js';
import { Settings } from '../platform/config/settings.js';

class ConnectorNotFoundError extends NotFoundError {
  constructor() {
    super('Connector');
  }
}

class ConnectorNameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `A connector named ${name} already exists.`);
  }
}

interface NewConnector {
  readonly name: string;
  readonly type: string;
  readonly config: Config;
  readonly enabled?: boolean;
  readonly priority?: number;
}

type ConnectorChange = Partial<Omit<NewConnector, 'type'>>;

export const DEFAULT_PRIORITY = 100;

@Injectable()
export class ConnectorsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly connectors: ConnectorsRepository,
    private readonly configs: SealedConfig,
    private readonly audit: AuditLog,
  ) {}

  list(request: PageRequest, sort: readonly ConnectorSort[]): Promise<Page<ConnectorEntity>> {
    return this.connectors.list(request, sort);
  }

  all(): Promise<readonly ConnectorEntity[]> {
    return this.connectors.all();
  }

  async get(id: string): Promise<ConnectorEntity> {
    const found = isUuid(id) ? await this.connectors.findById(id) : undefined;
    if (!found) throw new ConnectorNotFoundError();
    return found;
  }

  async create(
    caller: Caller,
    wanted: NewConnector,
    idempotency: Participant<ConnectorEntity>,
  ): Promise<ConnectorEntity> {
    const { name, enabled = true, priority = DEFAULT_PRIORITY } = wanted;
    const type = CONNECTOR_TYPES.named(wanted.type);
    const id = newId();
    const stored = this.configs.checkAndSeal(type, id, wanted.config);
    return await this.unlessTaken(name, () =>
      this.transactions.run<ConnectorEntity>(
        async (tx) => {
          const content = { name, enabled, priority, ...stored };
          const made = await this.connectors.insert(tx, id, type.name, content);
          await this.record(tx, caller, 'connector.created', made, { enabled, priority });
          return made;
        },
        caller,
        idempotency,
      ),
    );
  }

  async update(caller: Caller, id: string, change: ConnectorChange): Promise<ConnectorEntity> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    if (!isUuid(id)) throw new ConnectorNotFoundError();
    return await this.unlessTaken(change.name ?? '', () =>
      this.transactions.run<ConnectorEntity>(async (tx) => {
        const before = await this.lock(tx, id);
        const { name = before.name, enabled = before.enabled, priority = before.priority } = change;
        const changed = change.config && this.changed(before, change.config);
        const { config, secrets, secret_names } = changed ?? before;
        const content = { name, enabled, priority, config, secrets, secret_names };
        const after = await this.connectors.update(tx, before, content);
        await this.record(tx, caller, 'connector.updated', after, {
          enabled,
          priority,
          name_before: before.name === name ? undefined : before.name,
          config_fields: change.config && Object.keys(change.config),
          origins_before: changed?.moved?.from,
          origins: changed?.moved?.to,
        });
        return after;
      }, caller),
    );
  }

  async delete(caller: Caller, id: string): Promise<void> {
    if (!isUuid(id)) throw new ConnectorNotFoundError();
    await this.transactions.run(async (tx) => {
      const gone = await this.lock(tx, id);
      await this.connectors.markDeleted(tx, id);
      await this.record(tx, caller, 'connector.deleted', gone, {});
    }, caller);
  }

  private changed(before: ConnectorEntity, change: Config): ChangedConfig {
    return this.configs.change(CONNECTOR_TYPES.named(before.type), before.id, before, change);
  }

  private async lock(tx: Tx, id: string): Promise<ConnectorEntity> {
    const found = await this.connectors.lockById(tx, id);
    if (!found) throw new ConnectorNotFoundError();
    return found;
  }

  private unlessTaken<T>(name: string, work: () => Promise<T>): Promise<T> {
    return mapConstraints({ uq_connectors_name: () => new ConnectorNameTakenError(name) }, work);
  }

  /** Details contain field names and origins only, because any other value may be a secret. */
  private async record(
    tx: Tx,
    caller: Caller,
    action: Extract<AuditAction, `connector.${string}`>,
    { id, name, type }: ConnectorEntity,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const subject = { type: 'connector', id };
    const entry = { actor: caller.name, action, subject, details: { name, type, ...details } };
    await this.audit.record(tx, entry);
  }
}

/**
 * Creates a sandbox connector on the first start, so that new users can run actions at once. Only with the embedded
 * database: an operator with an own database sets up connectors.
 */
@Injectable()
export class DefaultSandbox implements OnApplicationBootstrap {
  constructor(
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly connectors: ConnectorsRepository,
    private readonly audit: AuditLog,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.settings.databaseUrl === undefined) await this.createOnFirstStart();
  }

  async createOnFirstStart(): Promise<void> {
    const id = newId();
    const content = {
      name: 'sandbox',
      enabled: true,
      priority: DEFAULT_PRIORITY,
      config: {},
      secrets: null,
      secret_names: [],
    };
    await this.transactions.run(async (tx) => {
      if (await this.connectors.hasEverBeenOne(tx)) return;
      await this.connectors.insert(tx, id, 'sandbox', content);
      const details = { name: 'sandbox', type: 'sandbox' };
      const subject = { type: 'connector', id };
      await this.audit.record(tx, {
        actor: 'system',
        action: 'connector.created',
        subject,
        details,
      });
    });
  }
}
