import type { JsonObject } from '../reading/json.js';
import { generic } from './generic.js';

const read = (data: JsonObject, event_type = 'policy_violation') =>
  generic.read({ event_type, data });

describe('an event of the generic shape', () => {
  it.each<JsonObject>([{ alert_id: 'a' }, { alert_id: 7 }, { severity: 'low' }, { details: {} }])(
    'is known by %j',
    (data) => expect(read(data)).toBeDefined(),
  );

  it.each<JsonObject>([{}, { alert_id: '' }, { alert_id: {} }, { severity: [] }, { details: 'x' }])(
    'is not known by %j',
    (data) => expect(read(data)).toBeUndefined(),
  );

  it('takes its type from event_type, when that is a known one', () => {
    expect(read({ alert_id: 'a' })?.type).toBe('policy_violation');
    expect(read({ alert_id: 'a' }, 'Account-Takeover')?.type).toBe('account_takeover');
    expect(read({ alert_id: 'a' }, 'weather')).toMatchObject({
      type: undefined,
      usualType: 'other',
    });
  });

  it('lifts what belongs to a mail only when it tells of one', () => {
    const lifted = (details: JsonObject) => read({ details })?.lift;
    expect(lifted({ subject: 's', sender: 'a@example.net' })).toEqual({
      subject: 's',
      sender: 'a@example.net',
    });
    expect(lifted({ message_id: '<m@x>' })).toEqual({ message_id: '<m@x>' });
    expect(lifted({ subject: 'CN=example', recipient: 'x' })).toEqual({});
  });

  it('finds what its title needs in details, else beside them', () => {
    expect(read({ host: 'beside', details: { host: 'in', rule_name: 'R' } })?.title).toBe('R (in)');
    expect(read({ severity: 'low', host: 'beside', user: 'u' })?.title).toBe(
      'policy violation (beside, u)',
    );
  });
});
