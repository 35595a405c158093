import { cost, LINEAR } from '../../test/support/cost.js';
import fc from 'fast-check';
import { hasFormat, PARAMETER_FORMATS, type ParameterFormat } from './parameters.js';
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

  it('accepts no domain that a URL would change', () => {
    const unit = fc.constantFrom(...'aZ0-_.%@:/ ü。');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        if (!hasFormat('domain', text)) return true;
        return new URL(`http://${text}`).hostname === text.toLowerCase();
      }),
    );
  });

  it('accepts an address in one format only', () => {
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
