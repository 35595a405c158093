import { EVENT_TYPES } from '../../src/notifications/notification.js';
import { readContract } from '../support/contract-check-document.js';
import { eventSchemaErrors, schemaNameOf } from '../support/notifications/event-contract.js';

interface Shown {
  readonly example?: { readonly type: string; readonly timestamp: string };
}

describe('the example of an event', () => {
  const { schemas } = readContract().components;

  it.each(Object.keys(EVENT_TYPES))('is a complete event of %s that matches its schema', (type) => {
    const { example } = schemas[schemaNameOf(type)] as Shown;
    expect(example).toMatchObject({ type, id: expect.any(String), timestamp: expect.any(String) });
    expect(eventSchemaErrors(example!)).toEqual([]);
  });
});
