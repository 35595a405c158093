import { actionType, actionTypes } from '../catalogue/action-types.js';
import { parameterErrors } from './parameter-rules.js';

describe('the rules of parameters', () => {
  it('tell the field and a code of their own', () => {
    const wrong = { ip: ' ', domain: 'x', url: 'x', hash: 'x', sender: 'x', recipient: 'x' };
    const found = actionTypes().flatMap((type) =>
      parameterErrors(type, wrong).filter(({ code }) => code.startsWith('is_')),
    );
    expect(new Set(found.map(({ field, code }) => `${field} ${code}`))).toEqual(
      new Set([
        'parameters.ip is_not_empty',
        'parameters.domain is_domain',
        'parameters.url is_url',
        'parameters.sender is_email',
      ]),
    );
    const [error] = parameterErrors(actionType('lookup_ip'), { ip: '10.0.0.0/8' });
    expect(error).toEqual({
      field: 'parameters.ip',
      code: 'is_ip',
      message: 'parameters.ip must be an IPv4 or IPv6 address, without prefix length or zone.',
    });
  });

  it('leave free what vendors write in their own ways', () => {
    const fuzzy = { hash: '3:AXGBicFlgVNhBGcL6wCrFQEv' };
    expect(parameterErrors(actionType('lookup_hash'), fuzzy)).toEqual([]);
    const mailbox = { message_id: 'x', recipient: 'bob' };
    expect(parameterErrors(actionType('delete_email'), mailbox)).toEqual([]);
  });
});
