import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ActionTypeName, ACTION_TYPES } from '../../../action-catalogue/action-types.js';
import type { Departure, Gate } from '../../../platform/net/outbound-request.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  ConnectorType,
} from '../../connector-type.js';
import type { Config, ConfigSchema } from '../../../targets/target-config.js';

type Ended = Exclude<Outcome, { kind: 'accepted' }>;

/** Has no external effect. With a latency it uses the gate and waits like a real connector. */
class SandboxConnector extends Connector {
  constructor(
    identity: ConnectorIdentity,
    private readonly latencyMs: number,
    private readonly failing: ReadonlySet<ActionTypeName>,
  ) {
    super(identity);
  }

  override get simulates(): boolean {
    return true;
  }

  provides(): boolean {
    return true;
  }

  idempotent(): boolean {
    return true;
  }

  override simulate(type: ActionTypeName): Ended | undefined {
    return this.latencyMs === 0 ? this.outcomeOf(type) : undefined;
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return gate.send((departure) => this.pretend(call, departure));
  }

  async test(): Promise<TestResult> {
    return { success: true, message: '[sandbox] The sandbox has no vendor.', latencyMs: 0 };
  }

  private async pretend({ type }: ActionCall, departure: Departure): Promise<Outcome> {
    await departure.leave();
    if (this.latencyMs > 0) {
      await sleep(this.latencyMs, undefined, { signal: departure.signal });
    }
    return this.outcomeOf(type);
  }

  private outcomeOf(type: ActionTypeName): Ended {
    return this.failing.has(type)
      ? { kind: 'refused', message: `[sandbox] ${type} fails as configured.`, simulated: true }
      : { kind: 'done', message: `[sandbox] ${type} was only simulated.`, simulated: true };
  }
}

const SANDBOX_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    latency_ms: {
      type: 'integer',
      minimum: 0,
      maximum: 60_000,
      default: 0,
      description: 'Duration of each action in milliseconds.',
    },
    fail: {
      type: 'array',
      items: { type: 'string', enum: ACTION_TYPES, maxLength: 64 },
      maxItems: ACTION_TYPES.length,
      uniqueItems: true,
      description: 'Action types that fail.',
    },
  },
  required: [],
  additionalProperties: false,
};

@Injectable()
export class SandboxType extends ConnectorType {
  readonly name = 'sandbox';
  readonly description =
    'Simulates every action without external effects. Serves only while no connector of another type exists, enabled or not.';
  readonly actions = ACTION_TYPES;
  readonly destinations = [];
  override readonly servesOnlyAlone = true;

  readonly schema = SANDBOX_SCHEMA;

  create(identity: ConnectorIdentity, config: Config): Connector {
    const { latency_ms = 0, fail = [] } = config as {
      latency_ms?: number;
      fail?: ActionTypeName[];
    };
    return new SandboxConnector(identity, latency_ms, new Set(fail));
  }
}
