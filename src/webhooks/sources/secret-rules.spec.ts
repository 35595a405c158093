import { SECRET, secretProblem } from './secret-rules.js';
import { SIGNATURE_SCHEMES } from './webhook-source.js';

const base64 = (bytes: number): string => Buffer.alloc(bytes, 0xfe).toString('base64');

describe('secretProblem', () => {
  it.each([
    ['plain text', 'sixteen-letters!'],
    ['base64 of 16 bytes', `whsec_${base64(16)}`],
    ['base64 of 24 bytes', `whsec_${base64(24)}`],
    ['base64 of 64 bytes', `whsec_${base64(64)}`],
    ['base64 without its padding', `whsec_${base64(16).replaceAll('=', '')}`],
  ])('lets %s be the secret for every signature', (_, secret) => {
    for (const signature of SIGNATURE_SCHEMES) {
      expect(secretProblem(secret, signature)).toBeUndefined();
    }
  });

  it.each([
    ['nothing', 'whsec_'],
    ['base64 of 15 bytes', `whsec_${base64(15)}`],
    ['base64 of other letters', `whsec_${base64(24).replaceAll('/', '_')}`],
    ['base64 with a line break', `whsec_${base64(12)}\n${base64(12)}`],
    ['base64 that goes on behind its padding', `whsec_${base64(16)}${base64(16)}`],
    ['one letter too many', `whsec_${base64(24)}A`],
  ])('refuses %s behind whsec_ for standard alone', (_, secret) => {
    expect(secretProblem(secret, 'standard')).toMatch(/whsec_/);
    expect(secretProblem(secret, 'standard')).not.toMatch(/whsec_\S/);
    expect(secretProblem(secret, 'body')).toBeUndefined();
  });

  it.each([
    'a secret of some words',
    'schlüssel-des-tors',
    'tab\tin-the-middle',
    'with-a-\u200b-in-it',
  ])('refuses %j for token alone', (secret) => {
    expect(secretProblem(secret, 'token')).toMatch(/header/);
    expect(secretProblem(secret, 'timestamped')).toBeUndefined();
  });
});

describe('SECRET', () => {
  it.each([' x', 'x ', '\tx', 'x\n', '\ufeffx', 'x\u00a0', ' ', ''])('refuses %j', (text) => {
    expect(SECRET.test(text)).toBe(false);
  });

  it('lets white space be inside, and is quick with a long text of it', () => {
    expect(SECRET.test('two words\nand a line')).toBe(true);
    expect(SECRET.test(`x${' '.repeat(1_000_000)}`)).toBe(false);
  });
});
