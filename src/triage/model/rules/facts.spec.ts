import { atOnce } from '../../../platform/concurrency/semaphore.js';
import { Facts } from './facts.js';

const factsOf = (rawData: Readonly<Record<string, unknown>>) => atOnce(Facts.inPieces(rawData));

const said = (rawData: Readonly<Record<string, unknown>>) => factsOf(rawData).ofTools('ticket');

describe('the facts that tools state', () => {
  it('are the values of names that only tools fill', () => {
    expect(said({ ticket: 'CHG-1', asset: { ticket: 'CHG-2' } })).toHaveLength(2);
  });

  it('do not include fields of a JSON log line that Wazuh has decoded', () => {
    const alert = { decoder: { name: 'json' }, data: { ticket: 'CHG-1' } };
    expect(said(alert)).toEqual([]);
    expect(said({ all_fields: alert })).toEqual([]);
    for (const decoder of [undefined, { name: 'windows_eventchannel' }]) {
      expect(said({ decoder, data: { ticket: 'CHG-1' } })).toHaveLength(1);
    }
  });

  it('have no pointer that is too long for evidence, even if a key is very long', () => {
    const facts = factsOf({ ['k'.repeat(60_000)]: ['192.0.2.1', '192.0.2.2'], ip: '192.0.2.3' });
    expect(facts.all.map(({ pointer }) => pointer)).toEqual(['/ip']);
    expect(facts.cut).toBe(true);
  });

  it.each([
    ['internetMessageHeaders'],
    ['raw_headers'],
    ['mime_headers'],
    ['x_headers'],
    ['query_params'],
    ['queryString'],
    ['args'],
    ['cookies'],
    ['form'],
    ['environment'],
    ['env'],
    ['metadata'],
  ])('do not include a value that a stranger can write below %s', (name) => {
    expect(said({ event: { [name]: { ticket: 'CHG-1', more: [{ ticket: 'CHG-2' }] } } })).toEqual(
      [],
    );
  });
});
