import { Injectable, Logger } from '@nestjs/common';
import type { ActionTypeName } from '../action-catalogue/action-types.js';
import { isUuid } from '../platform/ids.js';
import { UnreachableError } from '../platform/net/net.errors.js';
import { plainTextProblems } from '../targets/target-check.js';
import { SealedConfig } from '../targets/target-secrets.js';
import type { SealedConnector } from './connector.js';
import {
  Connector,
  type ConnectorIdentity,
  type TestResult,
  type ConnectorType,
} from './connector-type.js';
import { ConnectorTypes } from './connector-types.js';
import { ConnectorsRepository } from './connectors.repository.js';

const UNREADABLE = 'The secrets of the connector cannot be decrypted; see the log.';

/** A connector instance, reused until its row changes. */
interface Instance {
  readonly version: number;
  /** A restored backup may repeat a version, so the time is compared, too. */
  readonly changedAt: number;
  readonly connector: Connector;
}

interface ConfiguredConnector {
  readonly row: SealedConnector;
  readonly type: ConnectorType;
}

/**
 * Reads the connectors from the database each time, so that every replica sees changes at once. Instances are reused
 * while their rows are unchanged, because circuit breakers keep state.
 */
@Injectable()
export class ConnectorRegistry {
  private readonly logger = new Logger(ConnectorRegistry.name);
  private readonly instances = new Map<string, Instance>();

  constructor(
    private readonly rows: ConnectorsRepository,
    private readonly types: ConnectorTypes,
    private readonly configs: SealedConfig,
  ) {}

  /**
   * The enabled connector with the lowest priority for an action type, then the first by name; `undefined` if there is
   * none.
   */
  async providerOf(type: ActionTypeName): Promise<Connector | undefined> {
    const [found] = await this.providers(type);
    return found && this.connectorOf(found.row);
  }

  /** By id, if it is enabled and provides the action type. */
  async provider(id: string, type: ActionTypeName): Promise<Connector | undefined> {
    const found = (await this.providers(type)).find(({ row }) => row.id === id);
    return found && this.connectorOf(found.row);
  }

  /** By id, even if it is disabled, to ask about earlier operations. */
  async find(id: string): Promise<Connector | undefined> {
    const row = isUuid(id) ? await this.rows.findById(id) : undefined;
    return row && this.connectorOf(row);
  }

  /** Action types that an enabled connector provides. */
  async availableTypes(): Promise<ReadonlySet<ActionTypeName>> {
    const serving = await this.serving();
    return new Set(serving.flatMap(({ type, row }) => type.provides(row.config)));
  }

  connectorOf(row: SealedConnector): Connector {
    const known = this.instances.get(row.id);
    const { version } = row;
    const changedAt = row.updatedAt.getTime();
    if (known?.version === version && known.changedAt === changedAt) return known.connector;
    const connector = this.make(row);
    this.instances.set(row.id, { version, changedAt, connector });
    return connector;
  }

  private async providers(type: ActionTypeName): Promise<ConfiguredConnector[]> {
    const serving = await this.serving();
    return serving.filter((one) => one.type.provides(one.row.config).includes(type));
  }

  /** Connectors for actions, by priority. */
  private async serving(): Promise<ConfiguredConnector[]> {
    const rows = await this.rows.all();
    this.forgetAllBut(rows);
    return rows.flatMap((row): ConfiguredConnector[] => {
      const type = this.types.find(row.type);
      return type && row.enabled && !this.types.standsBy(row, rows) ? [{ row, type }] : [];
    });
  }

  /** If the secrets cannot be decrypted, actions of the connector fail with the reason. */
  private make(row: SealedConnector): Connector {
    const { id, name, type: typeName } = row;
    const type = this.types.find(typeName);
    const identity = { id, name, type: typeName };
    try {
      if (!type) throw new Error(`There is no connector type ${typeName}.`);
      const config = this.configs.open(id, row);
      const [unsafe] = plainTextProblems(type, config, 'config');
      if (!unsafe) return type.create(identity, config);
      // The API rejects such a configuration, so it was written into the database directly.
      this.logger.error({ connector: name }, `A connector cannot be used: ${unsafe.message}`);
      return new UnusableConnector(identity, type.provides(row.config), unsafe.message);
    } catch (err) {
      this.logger.error({ err, connector: name }, 'A connector cannot be used');
      return new UnusableConnector(identity, type?.provides(row.config) ?? [], UNREADABLE);
    }
  }

  private forgetAllBut(rows: readonly SealedConnector[]): void {
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of this.instances.keys()) if (!ids.has(id)) this.instances.delete(id);
  }
}

/** Replaces a connector whose stored configuration is unusable. All its operations fail with the reason. */
class UnusableConnector extends Connector {
  constructor(
    identity: ConnectorIdentity,
    private readonly actions: readonly ActionTypeName[],
    private readonly reason: string,
  ) {
    super(identity);
  }

  provides(type: ActionTypeName): boolean {
    return this.actions.includes(type);
  }

  idempotent(): boolean {
    return true;
  }

  async execute(): Promise<never> {
    throw new UnreachableError(this.reason, { temporary: false });
  }

  async test(): Promise<TestResult> {
    return { success: false, message: this.reason, latencyMs: 0 };
  }
}
