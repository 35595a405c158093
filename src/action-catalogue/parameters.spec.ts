import { cost, LINEAR } from '../../test/support/cost.js';
import fc from 'fast-check';
import { actionType, actionTypes } from './action-types.js';
import {
  hasFormat,
  PARAMETER_FORMATS,
  parameterErrors,
  type ParameterFormat,
} from './parameters.js';

const AROUND = fc.constantFrom(' ', '\t', '\n', '\0', '\u200b', '\u00a0', ',', ';', '<', '>', '"');

const VALID: Readonly<Record<ParameterFormat, fc.Arbitrary<string>>> = {
  ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  domain: fc.domain(),
  email: fc.emailAddress(),
  url: fc.webUrl(),
};

describe('hasFormat', () => {
  it.each(PARAMETER_FORMATS)('accepts every text of the format %s', (format) => {
    fc.assert(fc.property(VALID[format], (text) => hasFormat(format, text)));
  });

  it.each(PARAMETER_FORMATS.filter((format) => format !== 'url'))(
    'rejects extra characters around a text of the format %s',
    (format) => {
      fc.assert(
        fc.property(VALID[format], AROUND, (text, more) => {
          return !hasFormat(format, `${text}${more}`) && !hasFormat(format, `${more}${text}`);
        }),
      );
    },
  );

  it('rejects a domain that URL parsing would change', () => {
    const unit = fc.constantFrom(...'aZ0-_.%@:/ ü。');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        if (!hasFormat('domain', text)) return true;
        return new URL(`http://${text}`).hostname === text.toLowerCase();
      }),
    );
  });

  it('accepts each value in only one format', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PARAMETER_FORMATS), (format) => {
        fc.assert(
          fc.property(VALID[format], (text) =>
            PARAMETER_FORMATS.every((other) => other === format || !hasFormat(other, text)),
          ),
          { numRuns: 20 },
        );
      }),
      { numRuns: 10 },
    );
  });

  it.each([
    ['ip', '10.0.0.0/8'],
    ['ip', 'fe80::1%eth0'],
    ['ip', '010.0.0.1'],
    ['ip', '10.0.0'],
    ['ip', '167772161'],
    ['ip', '0x0a.0.0.1'],
    ['ip', '[::1]'],
    ['ip', '10.0.0.1:80'],
    ['ip', '10.0.0.*'],
    ['ip', '１０.0.0.1'],
    ['domain', 'localhost'],
    ['domain', 'com'],
    ['domain', '10.0.0.1'],
    ['domain', 'evil.example.'],
    ['domain', '.evil.example'],
    ['domain', '*.evil.example'],
    ['domain', 'evil..example'],
    ['domain', '-evil.example'],
    ['domain', 'evil[.]example'],
    ['domain', 'bücher.example'],
    ['domain', 'https://evil.example'],
    ['domain', 'mallory@evil.example'],
    ['domain', `${'a'.repeat(64)}.example`],
    ['domain', `${'a.'.repeat(130)}example`],
    ['email', 'evil.example'],
    ['email', '@evil.example'],
    ['email', 'mallory@localhost'],
    ['email', 'mallory@[10.0.0.1]'],
    ['email', 'Mallory <mallory@evil.example>'],
    ['email', '"<a@b.example>"@evil.example'],
    ['email', 'a@b.example, c@d.example'],
    ['email', 'a@b@c.example'],
    ['url', 'evil.example/x'],
    ['url', 'hxxps://evil.example'],
    ['url', 'https://evil[.]example'],
    ['url', 'javascript:alert(1)'],
    ['url', 'file:///etc/passwd'],
    ['url', 'https://'],
    ['url', ' https://evil.example'],
    ['url', 'https://evil.example/a b'],
    ['url', 'https://evil.example/\u202e'],
  ] as const)('rejects as %s the text %j', (format, text) => {
    expect(hasFormat(format, text)).toBe(false);
  });

  it.each([
    ['ip', '2001:DB8:0:0::1'],
    ['ip', '::ffff:10.0.0.1'],
    ['domain', 'xn--bcher-kva.example'],
    ['domain', '_dmarc.evil.example'],
    ['email', 'jürgen+x@evil.example'],
    ['url', 'http://paypal.example@evil.example:8080/?q=%20#x'],
    ['url', 'HTTPS://bücher.example/ü'],
    ['url', 'http://[2001:db8::1]/'],
  ] as const)('accepts as %s the text %j', (format, text) => {
    expect(hasFormat(format, text)).toBe(true);
  });

  it('takes linear time for hostile text', async () => {
    const work = (length: number) => {
      for (const format of PARAMETER_FORMATS) {
        for (const part of ['a.', 'a', '-', '1.', 'a@', ':', 'http://'])
          hasFormat(format, part.repeat(length));
      }
    };
    expect(await cost(work, 2_000)).toBeLessThan(LINEAR);
  });
});

describe('parameterErrors', () => {
  it('returns field and error code of an invalid value, for each format', () => {
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

  it('accepts any text in a parameter without a format, because vendors have their own spellings', () => {
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
    // Invisible characters are rejected only in the target.
    ['quarantine_email', { message_id: 'm\u200b', reason: 'a\u200db' }, []],
    [
      'block_sender',
      { constructor: 'x', sender: 's@evil.example' },
      ['parameters.constructor unknown_field'],
    ],
  ] as const)(
    'given %s with the parameters %j, returns the errors %j',
    (type, parameters, expected) => {
      expect(
        parameterErrors(actionType(type), parameters).map(({ field, code }) => `${field} ${code}`),
      ).toEqual(expected);
    },
  );
});
