import { configProblems, originsOf } from '../../../targets/target-check.js';
import type { Config } from '../../../targets/target-config.js';
import type { Settings } from '../../../platform/config/settings.js';
import { OutboundSmtp } from '../../../platform/net/outbound-smtp.js';
import { Resolver, Targets } from '../../../platform/net/targets.js';
import { EmailChannelType } from './email.channel.js';

const TO = ['ada@example.com'];
const CONFIG = { host: 'mail.example.com', from: 'soc@example.com', to: TO };

describe('the configuration of a channel of the type email', () => {
  const settings = { allowedPrivateTargets: ['10.1.0.0/16'] } as unknown as Settings;
  const targets = new Targets(new Resolver(), settings);
  const type = new EmailChannelType(new OutboundSmtp(targets));

  const problems = (config: Config): [string, string][] => {
    const found = configProblems(type.config, config, 'config');
    return [...found, ...(found.length > 0 ? [] : type.problems(config, 'config', targets))].map(
      ({ field, code }) => [field, code],
    );
  };
  const people = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@example.com`);

  it.each<Config>([
    CONFIG,
    { ...CONFIG, port: 465, secure: true, username: 'soc', password: 'a-password' },
    { ...CONFIG, host: '10.1.2.3', to: people(20) },
  ])('takes %j', (config) => {
    expect(problems(config)).toEqual([]);
  });

  it.each<[Config, string, string]>([
    [{ ...CONFIG, host: '10.2.2.3' }, 'config.host', 'target_refused'],
    [{ ...CONFIG, host: '::ffff:169.254.169.254' }, 'config.host', 'target_refused'],
    [{ ...CONFIG, username: 'soc' }, 'config.password', 'required'],
    [{ ...CONFIG, from: 'SOC <soc@example.com>' }, 'config.from', 'is_email'],
    [{ host: CONFIG.host, from: CONFIG.from }, 'config.to', 'required'],
    [{ ...CONFIG, to: 'ada@example.com' }, 'config.to', 'is_array'],
    [{ ...CONFIG, to: [] }, 'config.to', 'size'],
    [{ ...CONFIG, to: people(21) }, 'config.to', 'size'],
    [{ ...CONFIG, to: [...TO, ...TO] }, 'config.to', 'unique'],
    [{ ...CONFIG, to: [...TO, null] }, 'config.to.1', 'is_string'],
    [{ ...CONFIG, to: [...TO, 'Ada <ada@example.com>'] }, 'config.to.1', 'is_email'],
    [{ ...CONFIG, to: ['a@example.com\r\nBcc: x@example.net'] }, 'config.to.0', 'is_email'],
    [{ ...CONFIG, to: ['a%x@example.com'] }, 'config.to.0', 'is_email'],
    [{ ...CONFIG, to: ['|sh@example.com'] }, 'config.to.0', 'is_email'],
    [
      { ...CONFIG, allowed_recipient_domains: [] },
      'config.allowed_recipient_domains',
      'unknown_field',
    ],
  ])('refuses %j', (config, field, code) => {
    expect(problems(config)).toEqual([[field, code]]);
  });

  it('sends the password elsewhere when host, port or TLS from the start changes', () => {
    const changes: Config[] = [{}, { host: 'b.example' }, { port: 465 }, { secure: true }];
    const moved = changes.map((change) => originsOf(type, { ...CONFIG, ...change })[0]);
    expect(new Set(moved).size).toBe(4);
  });
});
