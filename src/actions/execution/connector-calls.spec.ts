import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Actions } from '../actions.js';
import { ConnectorCalls } from './connector-calls.js';

const registry = {
  providerOf: async (type: ActionTypeName, id = 'the first') => `${id} for ${type}`,
} as unknown as ConnectorRegistry;
const rows: Record<string, object> = { done: { connector_id: 'okta' }, never: {} };
const actions = { findById: async (id: string) => rows[id] } as unknown as Actions;

describe('ConnectorCalls', () => {
  it.each([
    [undefined, 'the first for enable_user'],
    ['done', 'okta for enable_user'],
    ['never', undefined],
    ['gone', undefined],
  ])(
    'given an action with rollback_of %s, returns the connector: %s',
    async (rollbackOf, expected) => {
      // `connectorOf` uses only these two dependencies.
      const calls = Reflect.construct(ConnectorCalls, [registry, actions]) as ConnectorCalls;
      const rollback = { action_type: 'enable_user', rollback_of: rollbackOf } as const;
      expect(await calls.connectorOf(rollback)).toBe(expected);
    },
  );
});
