import { setTimeout as sleep } from 'node:timers/promises';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import { type ConfigOf, fields, optional } from '../../targets/target-config.js';
import { type ActionDefinition, defineConnector } from '../connector-type.js';

const CONFIG = fields({
  latency_ms: {
    type: 'integer',
    minimum: 0,
    maximum: 60_000,
    default: 0,
    description: 'Duration of each action in milliseconds.',
  },
  fail: optional({
    type: 'array',
    items: { type: 'string', enum: ACTION_TYPES, maxLength: 64 },
    maxItems: ACTION_TYPES.length,
    uniqueItems: true,
    description: 'Action types that fail.',
  }),
});

interface Sandbox {
  readonly config: ConfigOf<typeof CONFIG>;
  readonly gate: Gate | undefined;
}

const ACTION: ActionDefinition<Sandbox> = {
  idempotent: true,
  send: ({ config, gate }, { type }) =>
    gate!.send(async (departure) => {
      await departure.leave();
      if (config.latency_ms > 0) {
        await sleep(config.latency_ms, undefined, { signal: departure.signal });
      }
      return outcomeOf(config, type);
    }),
};

/** Simulates actions without external effects. With a latency, uses the permit check like a real connector. */
export const sandbox = defineConnector({
  name: 'sandbox',
  description:
    'Simulates every action without external effects. Serves only while no connector of another type exists, enabled or not.',
  config: CONFIG,
  connect: (config) => (gate) => ({ config, gate }),
  actions: Object.fromEntries(ACTION_TYPES.map((type) => [type, ACTION])),
  simulate: (config, type) => (config.latency_ms === 0 ? outcomeOf(config, type) : undefined),
  test: async () => '[sandbox] The sandbox has no vendor.',
});

function outcomeOf({ fail = [] }: Sandbox['config'], type: ActionTypeName) {
  const simulated = true as const;
  return fail.includes(type)
    ? { kind: 'refused' as const, message: `[sandbox] ${type} fails as configured.`, simulated }
    : { kind: 'done' as const, message: `[sandbox] ${type} was only simulated.`, simulated };
}
