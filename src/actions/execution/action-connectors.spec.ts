import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { ActionsRepository } from '../actions.repository.js';
import {
  ActionConnectors,
  ConnectorPlaces,
  type GiveBack,
  MOST_PER_CONNECTOR,
} from './action-connectors.js';

const registry = {
  providerOf: async (type: ActionTypeName) => `the first for ${type}`,
  provider: async (id: string, type: ActionTypeName) => `${id} for ${type}`,
} as unknown as ConnectorRegistry;
const rows: Record<string, object> = { done: { connector_id: 'okta' }, never: {} };
const actions = { findById: async (id: string) => rows[id] } as unknown as ActionsRepository;

describe('ActionConnectors', () => {
  it.each([
    [undefined, 'the first for enable_user'],
    ['done', 'okta for enable_user'],
    ['never', undefined],
    ['gone', undefined],
  ])('finds for an action that rolls back %s the connector %s', async (rollbackOf, expected) => {
    const connectors = new ActionConnectors(registry, actions);
    expect(await connectors.of({ action_type: 'enable_user', rollback_of: rollbackOf })).toBe(
      expected,
    );
  });
});

describe('the places of recovery', () => {
  const fill = (places: ConnectorPlaces, connectorId: string): GiveBack[] =>
    Array.from({ length: MOST_PER_CONNECTOR }, () => places.tryTake(connectorId)!);

  it('are so many for each connector, whoever else has none left', () => {
    const places = new ConnectorPlaces();
    expect(fill(places, 'hanging')).not.toContain(undefined);
    expect(places.tryTake('hanging')).toBeUndefined();
    expect(places.tryTake('other')).toBeDefined();
  });

  it('are given back once, however often it is said', () => {
    const places = new ConnectorPlaces();
    const [first] = fill(places, 'vendor');
    first!();
    first!();
    expect(places.tryTake('vendor')).toBeDefined();
    expect(places.tryTake('vendor')).toBeUndefined();
  });

  it('are told of by the connectors that have none free', () => {
    const places = new ConnectorPlaces();
    places.tryTake('other');
    const [first] = fill(places, 'hanging');
    expect(places.taken()).toEqual(['hanging']);
    first!();
    expect(places.taken()).toEqual([]);
  });

  it('tell when one is free that somebody was refused, and else nothing', () => {
    const places = new ConnectorPlaces();
    const free = jest.fn();
    places.onFree(free);
    const [first, second, third] = fill(places, 'vendor');
    first!();
    places.tryTake('vendor');
    expect(free).not.toHaveBeenCalled();
    expect(places.tryTake('vendor')).toBeUndefined();
    second!();
    third!();
    expect(free).toHaveBeenCalledTimes(1);
  });
});
