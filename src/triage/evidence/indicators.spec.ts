import { cost, LINEAR } from '../../../test/support/cost.js';
import { randomBytes } from 'node:crypto';
import { resolvePointer } from '../../platform/json-pointer.js';
import { addressesIn } from './addresses-in-text.js';
import { extractIndicators } from '../../../test/support/triage/extract-indicators.js';

const found = (rawData: unknown) =>
  extractIndicators(rawData as Record<string, unknown>).map(
    ({ type, value }) => `${type} ${value}`,
  );
const inText = (text: string) => found({ body: text });

const SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('extractIndicators', () => {
  it('gives each indicator an id, its pointers and a normal form', () => {
    const rawData = {
      sender: 'Bob <BOB@Evil.Example>',
      links: ['see hxxps://EVIL[.]example/Login', 'https://evil.example/Login'],
    };
    const indicators = extractIndicators(rawData);
    expect(indicators).toEqual([
      { id: 'i1', type: 'email', value: 'bob@evil.example', pointers: ['/sender'] },
      {
        id: 'i2',
        type: 'domain',
        value: 'evil.example',
        pointers: ['/sender', '/links/0', '/links/1'],
      },
      {
        id: 'i3',
        type: 'url',
        value: 'https://evil.example/Login',
        pointers: ['/links/0', '/links/1'],
      },
    ]);
    for (const pointer of indicators.flatMap(({ pointers }) => pointers)) {
      expect(resolvePointer(rawData, pointer)).toEqual(expect.any(String));
    }
  });

  it.each([
    [
      'https://evil.example:8443/a,b?c=(d).',
      ['url https://evil.example:8443/a,b?c=(d', 'domain evil.example'],
    ],
    ['<a href="http://evil.example">', ['url http://evil.example/', 'domain evil.example']],
    ['(https://evil.example/x)', ['url https://evil.example/x', 'domain evil.example']],
    [
      'http://paypal.example@evil.example/',
      ['url http://paypal.example@evil.example/', 'domain evil.example'],
    ],
    ['http://198.51.100.7/x', ['url http://198.51.100.7/x', 'ip 198.51.100.7']],
    ['http://[2001:DB8::1]/', ['url http://[2001:db8::1]/', 'ip 2001:db8::1']],
    [
      'https://safe.example/?url=https%3A%2F%2Fevil.example%2Fx',
      [
        'url https://safe.example/?url=https%3A%2F%2Fevil.example%2Fx',
        'domain safe.example',
        'url https://evil.example/x',
        'domain evil.example',
      ],
    ],
    ['evil[.]example and sub.evil(dot)example', ['domain evil.example', 'domain sub.evil.example']],
    ['bücher.example', ['domain xn--bcher-kva.example']],
    ['evil。example', ['domain evil.example']],
    ['ev\u200bil.exam\u00adple', ['domain evil.example']],
    ['evil.example/path/run.sh', ['domain evil.example']],
    ['mallory[@]evil[.]example', ['email mallory@evil.example', 'domain evil.example']],
    [
      'mailto:mallory@evil.example?subject=x',
      ['email mallory@evil.example', 'domain evil.example'],
    ],
    ['198.51.100.7, 203[.]0[.]113[.]9:443', ['ip 198.51.100.7', 'ip 203.0.113.9']],
    ['[2001:db8:0:0::1]:443 ::ffff:198.51.100.7', ['ip 2001:db8::1', 'ip 198.51.100.7']],
    [`sha256:${SHA256.toUpperCase()}`, [`hash ${SHA256}`]],
    [
      'd41d8cd98f00b204e9800998ecf8427e;da39a3ee5e6b4b0d3255bfef95601890afd80709',
      ['hash d41d8cd98f00b204e9800998ecf8427e', 'hash da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    ],
  ])('given the text %j, finds the indicators %j', (text, indicators) => {
    expect(inText(text)).toEqual(indicators);
  });

  it.each([
    'invoice.pdf and C:\\Users\\bob\\setup.exe',
    'at 12:30:45 on 2026-01-31, version 10.0.19045.1',
    '300.1.1.1 01.2.3.4',
    'std::vector ::',
    'http:// https://',
    `${SHA256}0`,
    '-evil-.example .example a..b',
    '@ a@ @b a@b',
    'one. Two',
    'Many failed logins of b.okafor',
    'sys.argv kernel32.loadlibrary',
  ])('finds nothing in %j', (text) => {
    expect(inText(text)).toEqual([]);
  });

  it('finds hosts, users and files by the names of their fields', () => {
    expect(
      found({
        hostname: 'PC-17.corp.example',
        user: { name: 'CORP\\Alice' },
        FileName: 'Invoice.pdf.exe',
        process: { executable: '/usr/bin/curl' },
        attachments: [{ name: 'order.zip' }],
        sourceHost: '198.51.100.7',
        computer: 'unknown',
        username: '',
        device: 17,
      }),
    ).toEqual([
      'host pc-17.corp.example',
      'file Invoice.pdf.exe',
      'ip 198.51.100.7',
      'user corp\\alice',
      'file /usr/bin/curl',
      'file order.zip',
    ]);
  });

  it('finds the mail address in a user name that is a mail address', () => {
    expect(found({ user: 'Alice@Corp.Example' })).toEqual([
      'user alice@corp.example',
      'email alice@corp.example',
      'domain corp.example',
    ]);
  });

  it('finds the indicators of other fields beside a text full of addresses', () => {
    const flood = Array.from({ length: 5_000 }, (_, index) => `d${index}.flood.example`).join(' ');
    const values = found({
      body: flood,
      other: `${'x '.repeat(1_000)} late.example`,
      z: 'evil.example',
    });
    expect(values).toHaveLength(62);
    expect(values[0]).toBe('domain evil.example');
    expect(values).toContain('domain late.example');
  });

  it('returns at most 200 indicators, with at most 10 pointers each', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `d${index}.example`);
    expect(found({ many })).toHaveLength(200);
    const [often] = extractIndicators({ often: Array.from({ length: 50 }, () => 'evil.example') });
    expect(often!.pointers).toHaveLength(10);
  });

  it.each([
    null,
    'evil\0.example',
    '\ud800.example \udc00@evil.example http://\ud800/',
    {
      __proto__: null,
      a: ['http://%zz', 'http://a\0b', 'xn--\uffff.example', `${'a.'.repeat(9_999)}com`],
    },
    JSON.parse('{"__proto__":{"__proto__":"evil.example"}}'),
  ])('does not throw for the raw data %j', (rawData) => {
    expect(() => extractIndicators(rawData)).not.toThrow();
  });

  it('ignores a host that is too long for a domain, in any part of a URL', () => {
    const host = `${'语'.repeat(300)}.cc`;
    for (const url of [
      `http://${host}/`,
      `http:////user@${host}:80/`,
      `http:\\\\${host}`,
      `http://a.example/?u=http://${host}/`,
    ]) {
      expect(inText(url).filter((one) => one.includes('xn--'))).toEqual([]);
    }
    expect(inText('http://user@例え.example:8080/')).toContain('domain xn--r8jz45g.example');
  });

  const REPEATED = [
    ...['a.b1 ', 'http://', 'http://a,', 'https://evil.example/?u=https://evil.example/?u='],
    ...['a@b@c.', '[.]', '(dot)', '::1:', '....', 'xn--a.xn--b ', 'a', '1.1.1.', '\u200b.'],
  ].map((part) => [part, (length: number) => part.repeat(length / part.length)] as const);
  const many = (bytes: number, make: (index: number) => string) => (length: number) =>
    Array.from({ length: Math.ceil(length / bytes) }, (_, index) => make(index)).join(' ');
  const letters = (count: number, index: number) =>
    Array.from({ length: count }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 37 + index * 7) % 20_000)),
    );
  const nested = (index: number) => `u=http:\\\\a@${letters(250, index).join('')}.cc/`;

  it.each<readonly [string, (length: number) => string]>([
    ...REPEATED,
    ['brackets', many(13, (index) => `http://[x${index}`)],
    ['encoded labels', many(13, (index) => `xn--${index}.xn--a`)],
    ['labels with umlauts', many(13, (index) => `a${index}.ü.ü`)],
    ['long names', many(6_500, (index) => `http://${letters(2_080, index).join('')}.cc/`)],
    ['names of many labels', many(262, (index) => `http://${letters(120, index).join('.')}.cc/`)],
    ['mails of many labels', many(262, (index) => `a@${letters(120, index).join('.')}.cc`)],
    [
      'URLs in URLs',
      many(2_600, (index) => `http://h${index}.cc/?${Array(8).fill(nested(index)).join('&')}`),
    ],
    ['digits', (length) => randomBytes(length / 2).toString('hex')],
  ])('reads a mebibyte of hostile text in linear time: %s', async (_, text) => {
    const work = (length: number) => extractIndicators({ body: text(length) });
    expect(await cost(work, 1_048_576)).toBeLessThan(LINEAR);
  });

  it('counts each part of a word, and each URL inside a URL, against the limit of effort', () => {
    const parts = Array.from({ length: 300 }, (_, at) => `a${at}.example`).join(':');
    const nested = Array.from({ length: 8 }, (_, at) => `u=https%3A%2F%2Fb${at}.example`);
    for (const word of [parts, `https://a.example/?${nested.join('&')}`]) {
      const effort = { words: 20 };
      expect([...addressesIn(word, effort)].length).toBeLessThanOrEqual(20);
      expect(effort.words).toBeLessThanOrEqual(0);
    }
  });
});
