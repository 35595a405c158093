import { actionType, actionTypes } from '../action-catalogue/action-types.js';
import { parameterErrors } from './parameter-rules.js';
describe('parameterErrors', () => {
  it('says the field and a code for each rule', () => {
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

  it('accepts what vendors write in their own ways', () => {
    const fuzzy = { hash: '3:AXGBicFlgVNhBGcL6wCrFQEv' };
    expect(parameterErrors(actionType('lookup_hash'), fuzzy)).toEqual([]);
    const mailbox = { message_id: 'x', recipient: 'bob' };
    expect(parameterErrors(actionType('delete_email'), mailbox)).toEqual([]);
  });

  it.each([
    ['quarantine_email', {}, ['parameters.message_id required']],
    ['quarantine_email', { message_id: 7 }, ['parameters.message_id is_string']],
    ['quarantine_email', { message_id: 'm', evil: 1 }, ['parameters.evil unknown_field']],
    ['scan_host', { host_id: 'h', scan_type: 'deep' }, ['parameters.scan_type is_in']],
    ['block_ip', { ip: '1.2.3.4', duration_minutes: 1.5 }, ['parameters.duration_minutes is_int']],
    ['block_ip', { ip: '1.2.3.4', duration_minutes: 60 }, []],
    ['lookup_url', { url: ' ' }, ['parameters.url is_not_empty']],
    ['isolate_host', { host_id: 'dc\u200b-01' }, ['parameters.host_id format_character']],
    ['isolate_host', { host_id: 'dc-01\u202e' }, ['parameters.host_id format_character']],
    ['isolate_host', { host_id: 'dc\t-01' }, ['parameters.host_id format_character']],
    ['disable_user', { user: '\u2066ceo' }, ['parameters.user format_character']],
    ['disable_user', { user: 'c\u00adeo\u034f' }, ['parameters.user format_character']],
    ['disable_user', { user: 'zo\u00eb o\u2019neill' }, []],
    // What is no target may be written as it likes.
    ['quarantine_email', { message_id: 'm\u200b', reason: 'a\u200db' }, []],
    [
      'block_sender',
      { constructor: 'x', sender: 's@evil.example' },
      ['parameters.constructor unknown_field'],
    ],
  ] as const)('finds in %s with %j the errors %j', (type, parameters, expected) => {
    expect(
      parameterErrors(actionType(type), parameters).map(({ field, code }) => `${field} ${code}`),
    ).toEqual(expected);
  });
});
