import { Facts } from './facts.js';

const said = (rawData: Readonly<Record<string, unknown>>) => Facts.of(rawData).ofTools('ticket');

describe('what tools say', () => {
  it('is what stands under names that only they fill', () => {
    expect(said({ ticket: 'CHG-1', asset: { ticket: 'CHG-2' } })).toHaveLength(2);
  });

  it('is nothing in the fields of a JSON log line that Wazuh has decoded', () => {
    const alert = { decoder: { name: 'json' }, data: { ticket: 'CHG-1' } };
    expect(said(alert)).toEqual([]);
    expect(said({ all_fields: alert })).toEqual([]);
    for (const decoder of [undefined, { name: 'windows_eventchannel' }]) {
      expect(said({ decoder, data: { ticket: 'CHG-1' } })).toHaveLength(1);
    }
  });

  it('has no pointer that is longer than those of evidence, however long a key is', () => {
    const facts = Facts.of({ ['k'.repeat(60_000)]: ['192.0.2.1', '192.0.2.2'], ip: '192.0.2.3' });
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
  ])('is nothing that a stranger names below %s', (name) => {
    expect(said({ event: { [name]: { ticket: 'CHG-1', more: [{ ticket: 'CHG-2' }] } } })).toEqual(
      [],
    );
  });
});
