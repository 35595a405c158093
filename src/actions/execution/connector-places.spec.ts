import { ConnectorPlaces, type GiveBack, MOST_PER_CONNECTOR } from './connector-places.js';

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

  it('go to who asked first, before anybody who only tries', async () => {
    const places = new ConnectorPlaces();
    const [first, second] = fill(places, 'vendor');
    const order: string[] = [];
    const ends = ['a', 'b'].map((name) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = places.within('vendor', () => {
        order.push(name);
        return promise;
      });
      return { resolve, done };
    });
    first!();
    expect(places.tryTake('vendor')).toBeUndefined();
    await Promise.resolve();
    expect(order).toEqual(['a']);
    second!();
    for (const { resolve, done } of ends) {
      resolve();
      await done;
    }
    expect(order).toEqual(['a', 'b']);
    expect(places.tryTake('vendor')).toBeDefined();
    expect(places.tryTake('vendor')).toBeDefined();
  });

  it('are given back by work that fails', async () => {
    const places = new ConnectorPlaces();
    fill(places, 'vendor')[0]!();
    const failing = places.within('vendor', () => Promise.reject(new Error('No answer.')));
    await expect(failing).rejects.toThrow('No answer.');
    expect(places.tryTake('vendor')).toBeDefined();
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
