import { setTimeout as sleep } from 'node:timers/promises';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import { fields } from '../../targets/target-config.js';
import { type ActionCall, defineConnector, type Outcome } from '../connector-type.js';

interface Sandbox {
  readonly latency_ms: number;
  readonly fail?: readonly ActionTypeName[];
}

/** Has no external effect. With a latency it uses the gate and waits like a real connector. */
export const sandbox = defineConnector({
  name: 'sandbox',
  description:
    'Simulates every action without external effects. Serves only while no connector of another type exists, enabled or not.',
  config: fields(
    {
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
    [],
  ),
  destinations: [],
  servesOnlyAlone: true,
  connect: (config): Sandbox => config,
  actions: Object.fromEntries(ACTION_TYPES.map((type) => [type, { idempotent: true, send }])),
  simulate: (config, type) => (config.latency_ms === 0 ? outcomeOf(config, type) : undefined),
  test: async () => '[sandbox] The sandbox has no vendor.',
});

function send(config: Sandbox, { type }: ActionCall, gate: Gate): Promise<Outcome> {
  return gate.send(async (departure) => {
    await departure.leave();
    if (config.latency_ms > 0) {
      await sleep(config.latency_ms, undefined, { signal: departure.signal });
    }
    return outcomeOf(config, type);
  });
}

function outcomeOf({ fail = [] }: Sandbox, type: ActionTypeName) {
  return fail.includes(type)
    ? ({
        kind: 'refused',
        message: `[sandbox] ${type} fails as configured.`,
        simulated: true,
      } as const)
    : ({
        kind: 'done',
        message: `[sandbox] ${type} was only simulated.`,
        simulated: true,
      } as const);
}
