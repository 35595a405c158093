import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionCall, Outcome } from '../../../src/connectors/connector-type.js';
import type { Gate } from '../../../src/platform/net/outbound-request.js';
import { TestConnector } from './scripted-vendor.js';

/** Long enough for two replicas to meet. */
const ANSWER_MS = 50;

/** A connector whose vendor accepts what it is asked for, and is done when the test says so. */
export class SlowVendor extends TestConnector {
  readonly calls: ActionCall[] = [];
  polls = 0;
  answer: Outcome | 'unreachable' = { kind: 'accepted', message: 'Working on it.', handle: {} };
  present: Outcome | 'unknown' = 'unknown';
  /** Instead of accepting, breaks off after the call has left. */
  breaks = false;
  /** Instead of accepting, does not answer after the call has left. */
  hangs = false;
  /** The most questions about one and the same call that were under way at a time. */
  mostAtOnce = 0;
  private readonly asked = new Map<unknown, number>();

  constructor() {
    super('slow');
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

  async poll(handle: Record<string, unknown>): Promise<Outcome> {
    this.polls += 1;
    await this.takeTime(handle.ticket);
    if (this.answer === 'unreachable') throw new Error('No answer.');
    return this.answer.kind === 'accepted' ? { ...this.answer, handle } : this.answer;
  }

  async probe(): Promise<Outcome | 'unknown'> {
    return this.present;
  }

  private async takeTime(ticket: unknown): Promise<void> {
    const atOnce = (this.asked.get(ticket) ?? 0) + 1;
    this.asked.set(ticket, atOnce);
    this.mostAtOnce = Math.max(this.mostAtOnce, atOnce);
    await sleep(ANSWER_MS);
    this.asked.set(ticket, this.asked.get(ticket)! - 1);
  }
}
