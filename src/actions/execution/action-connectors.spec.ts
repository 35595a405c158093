import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Release } from '../../platform/concurrency/semaphore.js';
import type { ActionsRepository } from '../actions.repository.js';
import { ActionConnectors, ConnectorPlaces, MOST_PER_CONNECTOR } from './action-connectors.js';

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
  ])('given a rollback of %s, returns the connector %s', async (rollbackOf, expected) => {
    const connectors = new ActionConnectors(registry, actions);
    expect(await connectors.of({ action_type: 'enable_user', rollback_of: rollbackOf })).toBe(
      expected,
    );
  });
});

describe('ConnectorPlaces', () => {
  const fill = (places: ConnectorPlaces, connectorId: string): Release[] =>
    Array.from({ length: MOST_PER_CONNECTOR }, () => places.tryTake(connectorId)!);

  it('limits each connector separately', () => {
    const places = new ConnectorPlaces();
    expect(fill(places, 'hanging')).not.toContain(undefined);
    expect(places.tryTake('hanging')).toBeUndefined();
    expect(places.tryTake('other')).toBeDefined();
  });

  it('releases a place once if its release is called twice', () => {
    const places = new ConnectorPlaces();
    const [first] = fill(places, 'vendor');
    first!();
    first!();
    expect(places.tryTake('vendor')).toBeDefined();
    expect(places.tryTake('vendor')).toBeUndefined();
  });

  it('lists the connectors without a free place', () => {
    const places = new ConnectorPlaces();
    places.tryTake('other');
    const [first] = fill(places, 'hanging');
    expect(places.taken()).toEqual(['hanging']);
    first!();
    expect(places.taken()).toEqual([]);
  });

  it('calls the listener only for a released place that an earlier request did not get', () => {
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
