import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { newId } from '../platform/ids.js';
import { Settings } from '../platform/config/settings.js';
import { Transactions } from '../platform/database/transactions.js';
import { ConnectorsRepository } from './connectors.repository.js';
import { DEFAULT_PRIORITY } from './connectors.service.js';

/**
 * Creates a connector of the type `sandbox` on the very first start, so that whoever tries the service can run actions at
 * once. Only with the embedded database: whoever sets up a database sets up connectors, too.
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
      sealed: undefined,
      secretNames: [],
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
