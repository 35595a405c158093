import { problemsOf } from '../../../test/support/vendors/vendor-site.js';
import { originsOf } from '../../targets/target-check.js';
import type { Config } from '../../targets/target-config.js';
import { serverOf } from '../../targets/mail-account.js';
import { smtp } from './smtp.js';

const CONFIG = { host: 'mail.example.com', from: 'soc@example.com' };

describe('the configuration of an smtp connector', () => {
  it.each<Config>([
    CONFIG,
    { ...CONFIG, port: 465, secure: true, username: 'soc', password: 'a-password' },
    { ...CONFIG, allowed_recipient_domains: ['example.com', 'example.net'] },
    { ...CONFIG, host: '10.1.2.3' },
    { ...CONFIG, host: '2606:4700::1111' },
  ])('accepts %j', (config) => {
    expect(problemsOf(smtp, config)).toEqual([]);
  });

  it.each<[Config, string, string]>([
    [{ ...CONFIG, host: 'mail.example.com/x' }, 'config.host', 'matches'],
    [{ ...CONFIG, host: 'user@mail.example.com' }, 'config.host', 'matches'],
    [{ ...CONFIG, host: 'mail.example.com:25' }, 'config.host', 'matches'],
    [{ ...CONFIG, host: '10.2.2.3' }, 'config.host', 'target_refused'],
    [{ ...CONFIG, host: '0x7f.1' }, 'config.host', 'target_refused'],
    [{ ...CONFIG, host: '::ffff:169.254.169.254' }, 'config.host', 'target_refused'],
    [{ ...CONFIG, from: 'SOC <soc@example.com>' }, 'config.from', 'is_email'],
    [{ ...CONFIG, from: 'soc@example.com\r\nBcc: eve@evil.example' }, 'config.from', 'is_email'],
    [{ ...CONFIG, password: 'a-password' }, 'config.password', 'required'],
    [{ ...CONFIG, username: 'soc' }, 'config.password', 'required'],
    [{ ...CONFIG, username: 'soc', password: '4831483' }, 'config.password', 'length'],
    [{ ...CONFIG, port: 0 }, 'config.port', 'is_int'],
    [
      { ...CONFIG, allowed_recipient_domains: ['*@example.com'] },
      'config.allowed_recipient_domains.0',
      'matches',
    ],
  ])('rejects %j', (config, field, code) => {
    expect(problemsOf(smtp, config)).toEqual([[field, code]]);
  });

  it('names another destination of the password if host, port or TLS mode changes', () => {
    const changes: Config[] = [{}, { host: 'b.example' }, { port: 465 }, { secure: true }];
    const moved = changes.map((change) => originsOf(smtp.config, { ...CONFIG, ...change })[0]);
    expect(moved).toEqual([
      'tcp://mail.example.com:587',
      'tcp://b.example:587',
      'tcp://mail.example.com:465',
      'tls://mail.example.com:587',
    ]);
  });

  it.each([
    ['mail.example.com', true],
    ['2606:4700::1111', true],
    ['10.1.2.3', false],
    ['mail.internal', false],
  ])('requires TLS of the server %s: %s', (host, requireTls) => {
    const login = { username: undefined, password: undefined };
    const server = serverOf({ ...CONFIG, ...login, host, port: 587, secure: false });
    expect(server).toMatchObject({ requireTls });
  });
});
