import type { ActionTypeName } from '../actions/catalogue/action-types.js';
import { UnreachableError } from '../platform/net/net.errors.js';
import { Connector, type ConnectorIdentity, type TestResult } from './connector.port.js';

/** Stands for a connector that cannot be made of what is stored, and says why. */
export class UnusableConnector extends Connector {
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
    throw new UnreachableError(this.reason, { passing: false });
  }

  async test(): Promise<TestResult> {
    return { success: false, message: this.reason, latencyMs: 0 };
  }
}
