import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionTypeName } from '../../../actions/catalogue/action-types.js';
import type { Departure, Gate } from '../../../platform/net/gate.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
} from '../../connector.port.js';

/** Behaves as a vendor would, the gate included, so that what is tried with it is what happens with a real one. */
export class SandboxConnector extends Connector {
  constructor(
    identity: ConnectorIdentity,
    private readonly latencyMs: number,
    private readonly failing: ReadonlySet<ActionTypeName>,
  ) {
    super(identity);
  }

  provides(): boolean {
    return true;
  }

  idempotent(): boolean {
    return true;
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return gate.send((departure) => this.pretend(call, departure));
  }

  async test(): Promise<TestResult> {
    return { success: true, message: '[sandbox] Nothing to reach.', latencyMs: 0 };
  }

  private async pretend({ type }: ActionCall, departure: Departure): Promise<Outcome> {
    await departure.leave();
    if (this.latencyMs > 0) {
      await sleep(this.latencyMs, undefined, { signal: departure.signal });
    }
    return this.failing.has(type)
      ? { kind: 'refused', message: `[sandbox] ${type} fails as configured.`, simulated: true }
      : { kind: 'done', message: `[sandbox] ${type} was not really done.`, simulated: true };
  }
}
