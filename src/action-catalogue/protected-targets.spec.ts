import { cost, LINEAR } from '../../test/support/cost.js';
import fc from 'fast-check';
import {
  matches,
  protectionBy,
  type ProtectedTargetsSetting,
  type TargetKind,
} from './protected-targets.js';

const protects = (setting: ProtectedTargetsSetting, kind: TargetKind, value: string): boolean =>
  protectionBy(setting)[kind](value);

describe('protected hosts', () => {
  it.each([
    ['dc-01', 'DC-01'],
    ['dc-01', ' dc-01 '],
    ['dc-01', 'dc-01.'],
    ['dc-01', 'dc-01 . . '],
    ['dc-01 .', 'dc-01'],
    ['dc-01', '\uff24\uff23\uff0d01'],
    ['dc-01.corp.example', 'dc-01\u3002corp\uff0eexample\uff61'],
    ['dc-01\u3002corp.example', 'dc-01.corp.example.'],
    ['dc-01', 'dc-01.corp.example'],
    ['dc-01.corp.example', 'dc-01'],
    ['dc-*.corp.example', 'dc-7'],
    ['*.corp.example', 'laptop-7.corp.example'],
    ['b\u00fccher', 'xn--BCHER-kva'],
    ['b\u00fc*.example', 'xn--bcher-kva.example'],
    ['stra\u00dfe', 'STRASSE'],
    ['dc-01', 'dc-0?'],
    ['dc-01', 'CORP\\dc-01'],
    ['dc-01', 'CORP/dc-01'],
    ['dc-01', '.dc-01'],
    ['dc-01', 'dc-01$'],
    ['dc-01', '"dc-01"'],
    ['dc-01', 'laptop-7,dc-01'],
    ['dc-01', 'd*'],
    ['dc-01', '\uff0a'],
  ])('the pattern %j protects the host %j', (pattern, host) => {
    expect(protects({ hosts: [pattern] }, 'host', host)).toBe(true);
  });

  it.each([
    ['dc-01', 'dc-011'],
    ['dc-01', 'laptop-7.dc-01.example'],
    ['dc-01.corp.example', 'dc-01.other.example'],
    ['*.dc.corp.example', 'laptop-7'],
  ])('the pattern %j does not protect the host %j', (pattern, host) => {
    expect(protects({ hosts: [pattern] }, 'host', host)).toBe(false);
  });

  it('a pattern of hosts does not protect other kinds of targets', () => {
    for (const kind of ['user', 'sender', 'domain', 'zone', 'ip', 'url'] as const) {
      expect(protects({ hosts: ['*'] }, kind, 'example.com')).toBe(false);
    }
  });
});

describe('protected users', () => {
  it.each([
    ['ceo', 'CEO@corp.example'],
    ['ceo', 'CORP\\ceo'],
    ['ceo@corp.example', 'ceo'],
    ['ceo@corp.example', 'ceo@CORP\u3002example.'],
    ['admin*', 'Administrator'],
  ])('the pattern %j protects the user %j', (pattern, user) => {
    expect(protects({ users: [pattern] }, 'user', user)).toBe(true);
  });

  it.each([
    ['ceo', 'ceo2@corp.example'],
    ['ceo@corp.example', 'ceo@other.example'],
    ['*@corp.example', 'mallory'],
  ])('the pattern %j does not protect the user %j', (pattern, user) => {
    expect(protects({ users: [pattern] }, 'user', user)).toBe(false);
  });
});

describe('protected domains', () => {
  it.each([
    ['example.com', 'zone', 'mail.example.com'],
    ['example.com', 'domain', 'a.b.example.com.'],
    ['example\u3002com', 'domain', 'example.com'],
    ['.example.com', 'domain', 'example.com'],
    ['b\u00fccher.example', 'domain', 'www.xn--bcher-kva.example'],
    ['example.com', 'url', 'https://user@mail.EXAMPLE.com.:8443/x?y#z'],
    ['example.com', 'sender', 'ceo@mail.example.com'],
    ['mail.example.com', 'zone', 'example.com'],
    ['*.example.com', 'zone', 'example.com'],
    ['mail*.example.co.uk', 'zone', 'co.uk'],
  ] as const)('the pattern %j protects the %s %j', (pattern, kind, value) => {
    expect(protects({ domains: [pattern] }, kind, value)).toBe(true);
  });

  it.each([
    // Targets of kind domain, sender or url do not include the subdomains of their domain.
    ['mail.example.com', 'domain', 'example.com'],
    ['mail.example.com', 'sender', 'a@example.com'],
    ['mail.example.com', 'url', 'https://example.com/'],
    ['example.com', 'zone', 'notexample.com'],
    ['notexample.com', 'zone', 'example.com'],
    ['example.com', 'zone', 'example.com.evil.example'],
    ['example.*', 'zone', 'evil.test'],
  ] as const)('the pattern %j does not protect the %s %j', (pattern, kind, value) => {
    expect(protects({ domains: [pattern] }, kind, value)).toBe(false);
  });
});

describe('protected addresses', () => {
  it.each([
    ['10.0.0.0/8', '10.1.2.3'],
    ['10.1.2.3/8', '10.9.9.9'],
    ['10.0.0.0/8', '::ffff:10.1.2.3'],
    ['10.0.0.0/8', '::FFFF:0a01:0203'],
    ['10.0.0.0/8', '64:ff9b::10.1.2.3'],
    ['::ffff:10.0.0.0/104', '10.1.2.3'],
    ['0.0.0.0/0', '192.0.2.1'],
    ['2001:db8::/32', '2001:0DB8:0::7'],
    ['2001:0db8:*', '2001:db8::7'],
    ['2001:db8::*', '2001:db8:1::7'],
    ['2001:db8:1:2:3:4:5:*', '2001:db8:1:2:3:4:5:6'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['10.0.*', '10.0.3.4'],
    ['10.0.*.*', '10.0.3.4'],
    ['*', '2001:db8::1'],
  ])('the pattern %s protects the address %s', (pattern, ip) => {
    expect(protects({ ips: [pattern] }, 'ip', ip)).toBe(true);
    const host = ip.includes(':') ? `[${ip}]` : ip;
    expect(protects({ ips: [pattern] }, 'url', `http://${host}/`)).toBe(true);
  });

  it.each([
    ['10.0.0.0/8', '11.0.0.1'],
    ['10.0.0.0/31', '10.0.0.2'],
    ['2001:db8::/32', '2001:db9::1'],
    ['2001:db8:*', '2001:db80::1'],
    ['10.0.*', '10.1.0.0'],
    ['10.0.0.1', '2001:db8::1'],
  ])('the pattern %s does not protect the address %s', (pattern, ip) => {
    expect(protects({ ips: [pattern] }, 'ip', ip)).toBe(false);
  });

  it('a range protects an address in every spelling that URLs allow', () => {
    for (const host of ['0x0a010203', '167838211', '10.66051', '012.1.2.3', '10.1.2.3.']) {
      expect(protects({ ips: ['10.0.0.0/8'] }, 'url', `http://${host}/x`)).toBe(true);
    }
  });
});

describe('wildcards in patterns', () => {
  it.each([
    ['*', 'anything', true],
    ['dc-*', 'dc-', true],
    ['*@example.com', 'a@example.com', true],
    ['a*a', 'a', false],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'acb', false],
    // Two wildcards cannot match the same part of the text.
    ['a*bc*c', 'abc', false],
    ['a*bc*c', 'abcc', true],
    ['ab*bc*bc', 'abcbc', false],
    ['10.0.*', '10.0.3.4', true],
    ['host', 'host-2', false],
  ])('the pattern %s matches the text %s: %j', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it('a pattern matches like a regular expression that has .* in place of *', () => {
    const small = (letters: string) =>
      fc.array(fc.constantFrom(...letters), { maxLength: 7 }).map((all) => all.join(''));
    fc.assert(
      fc.property(small('ab*'), small('ab'), (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
        expect(matches(pattern, text)).toBe(expression.test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('matching takes linear time for hostile text', async () => {
    const work = (length: number) => {
      expect(matches(`${'a*'.repeat(50)}b`, 'a'.repeat(length))).toBe(false);
      expect(protects({ hosts: ['dc-01'] }, 'host', `x${'. '.repeat(length / 10)}y`)).toBe(false);
    };
    expect(await cost(work, 40_000)).toBeLessThan(LINEAR);
  });
});
