import { ConnectorRegistry } from '../../../src/connectors/connector-registry.js';
import {
  type ActionCall,
  Connector,
  type Outcome,
  type TestResult,
} from '../../../src/connectors/connector.port.js';
import type { Gate } from '../../../src/platform/net/gate.js';
import type { TestApp } from '../test-app.js';

/** A connector whose vendor accepts what it is asked for, and is done when the test says so. */
export class SlowVendor extends Connector {
  readonly calls: ActionCall[] = [];
  polls = 0;
  answer: Outcome | 'unreachable' = { kind: 'accepted', message: 'Working on it.', handle: {} };
  present: Outcome | 'unknown' = 'unknown';
  /** Instead of accepting, breaks off after the call has left. */
  breaks = false;
  repeatable = false;

  constructor() {
    super({ id: 'slow', name: 'slow', type: 'test' });
  }

  provides(): boolean {
    return true;
  }

  idempotent(): boolean {
    return this.repeatable;
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return gate.send<Outcome>(async (departure) => {
      await departure.leave();
      this.calls.push(call);
      if (this.breaks) throw new Error('The connection broke.');
      return { kind: 'accepted', message: 'Accepted.', handle: { ticket: call.actionId } };
    });
  }

  override async poll(handle: Record<string, unknown>): Promise<Outcome> {
    this.polls += 1;
    if (this.answer === 'unreachable') throw new Error('No answer.');
    return this.answer.kind === 'accepted' ? { ...this.answer, handle } : this.answer;
  }

  override async probe(): Promise<Outcome | 'unknown'> {
    return this.present;
  }

  async test(): Promise<TestResult> {
    return { success: true, message: 'Fine.', latencyMs: 0 };
  }

  /** From now on the replica knows no other connector. */
  serve(app: TestApp): void {
    const registry = app.nest.get(ConnectorRegistry);
    registry.providerOf = () => Promise.resolve(this);
    registry.find = () => Promise.resolve(this);
  }
}
