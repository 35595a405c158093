import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConnectorRegistry,
  type ActionCall,
  Connector,
  type Outcome,
  type TestResult,
} from '../../../src/connectors/connector.port.js';
import type { Gate } from '../../../src/platform/net/outbound-request.js';
import type { TestApp } from '../test-app.js';

/** Long enough for two replicas to meet. */
const ANSWER_MS = 50;

/** A connector whose vendor accepts what it is asked for, and is done when the test says so. */
export class SlowVendor extends Connector {
  readonly calls: ActionCall[] = [];
  polls = 0;
  answer: Outcome | 'unreachable' = { kind: 'accepted', message: 'Working on it.', handle: {} };
  present: Outcome | 'unknown' = 'unknown';
  /** Instead of accepting, breaks off after the call has left. */
  breaks = false;
  /** Instead of accepting, does not answer after the call has left. */
  hangs = false;
  repeatable = false;
  /** The most questions about one and the same call that were under way at a time. */
  mostAtOnce = 0;
  private readonly asked = new Map<unknown, number>();

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
      if (this.hangs) await new Promise(() => undefined);
      return { kind: 'accepted', message: 'Accepted.', handle: { ticket: call.actionId } };
    });
  }

  override async poll(handle: Record<string, unknown>): Promise<Outcome> {
    this.polls += 1;
    await this.takeTime(handle.ticket);
    if (this.answer === 'unreachable') throw new Error('No answer.');
    return this.answer.kind === 'accepted' ? { ...this.answer, handle } : this.answer;
  }

  override async probe(): Promise<Outcome | 'unknown'> {
    return this.present;
  }

  private async takeTime(ticket: unknown): Promise<void> {
    const atOnce = (this.asked.get(ticket) ?? 0) + 1;
    this.asked.set(ticket, atOnce);
    this.mostAtOnce = Math.max(this.mostAtOnce, atOnce);
    await sleep(ANSWER_MS);
    this.asked.set(ticket, this.asked.get(ticket)! - 1);
  }

  async test(): Promise<TestResult> {
    return { success: true, message: 'Fine.', latencyMs: 0 };
  }

  /** From now on the replica knows no other connector. */
  serve(app: TestApp): void {
    const registry = app.nest.get(ConnectorRegistry);
    registry.providerOf = () => Promise.resolve(this);
    registry.provider = () => Promise.resolve(this);
    registry.find = () => Promise.resolve(this);
  }
}
