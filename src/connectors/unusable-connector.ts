import type { ActionTypeName } from '../common/action-types.js';
import { UnreachableError } from '../common/net/net.errors.js';
import { Connector, type ConnectorIdentity, type TestResult } from './connector.port.js';

const MESSAGE = 'The secrets of the connector cannot be read; see the log.';

/** Stands for a connector that cannot be made of what is stored. */
export class UnusableConnector extends Connector {
  constructor(
    identity: ConnectorIdentity,
    private readonly actions: readonly ActionTypeName[],
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
    throw new UnreachableError(MESSAGE, { passing: false });
  }

  async test(): Promise<TestResult> {
    return { success: false, message: MESSAGE, latencyMs: 0 };
  }
}
