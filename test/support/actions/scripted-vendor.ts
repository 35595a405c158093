import { ConnectorRegistry } from '../../../src/connectors/connector-registry.js';
import type { ActionCall, Connector, Outcome } from '../../../src/connectors/connector-type.js';
import type { Departure, Gate } from '../../../src/platform/net/outbound-request.js';
import type { TestApp } from '../test-app.js';

export const SCRIPTED = 'scripted';
/** Ids of the connectors that tests define. */
export const TEST_CONNECTORS = [SCRIPTED, 'slow'] as const;

/** Connector for tests. It offers every action type. */
export abstract class TestConnector implements Connector {
  readonly identity: Connector['identity'];
  readonly simulates = false;
  repeatable = false;

  constructor(name: (typeof TEST_CONNECTORS)[number]) {
    this.identity = { id: name, name, type: 'test' };
  }

  abstract execute(call: ActionCall, gate: Gate): Promise<Outcome>;

  idempotent(): boolean {
    return this.repeatable;
  }

  simulate(): undefined {
    return undefined;
  }

  async preview(): Promise<undefined> {
    return undefined;
  }

  async poll(_handle: Record<string, unknown>): Promise<Outcome> {
    throw new Error('This vendor accepts no actions.');
  }

  async test() {
    return { success: true, message: 'Fine.', latency_ms: 0 };
  }

  /** Replaces all connectors of the replica. */
  serve(app: TestApp): void {
    const registry = app.nest.get(ConnectorRegistry);
    registry.providerOf = () => Promise.resolve(this);
    registry.find = () => Promise.resolve(this);
  }
}

/** Connector that runs the script of the test in each call, and records the sent requests. */
export class ScriptedVendor extends TestConnector {
  /** Calls that sent a request. */
  readonly left: ActionCall[] = [];
  script: (call: ActionCall, gate: Gate) => Promise<Outcome> = (call, gate) =>
    this.send(call, gate);

  /** Returns the answer to a poll. */
  look: () => Promise<Outcome> = async () => ({ kind: 'done', message: 'Ended.' });

  constructor() {
    super(SCRIPTED);
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return this.script(call, gate);
  }

  /** Sends a request through the gate. `before` runs before the request is sent, `after` runs after it. */
  async send(
    call: ActionCall,
    gate: Gate,
    steps: {
      readonly before?: () => Promise<unknown>;
      readonly after?: (departure: Departure) => Promise<unknown>;
    } = {},
  ): Promise<Outcome> {
    return await gate.send<Outcome>(async (departure) => {
      await steps.before?.();
      await departure.leave();
      this.left.push(call);
      await steps.after?.(departure);
      return { kind: 'done', message: 'Done.' };
    });
  }

  override poll(): Promise<Outcome> {
    return this.look();
  }
}
