import { hashPassword, isOutdated, passwordMatches } from './password-hash.js';
import { hasPermittedLength } from './password-requirements.js';

const CHEAP = { m: 64, t: 1, p: 1 };

describe('password hashes', () => {
  it('match the password that they were made from, and no other', async () => {
    const hash = await hashPassword('a password of some length', CHEAP);
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await passwordMatches('a password of some length', hash)).toBe(true);
    expect(await passwordMatches('a password of some lengtH', hash)).toBe(false);
    expect(await passwordMatches('', hash)).toBe(false);
  });

  it('are those of Argon2id, as its reference implementation makes them', async () => {
    const known =
      '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await passwordMatches('password', known)).toBe(true);
  });

  it('differ for the same password', async () => {
    const one = await hashPassword('the same password', CHEAP);
    expect(await hashPassword('the same password', CHEAP)).not.toBe(one);
  });

  it('are of the cost that OWASP asks for', async () => {
    const hash = await hashPassword('a password of some length');
    expect(hash).toContain('$m=19456,t=2,p=1$');
    expect(isOutdated(hash)).toBe(false);
    expect(isOutdated(await hashPassword('a password of some length', CHEAP))).toBe(true);
  });

  it('take a password however it was typed', async () => {
    const hash = await hashPassword('caf\u00e9 \ufb01n \uff11\uff12', CHEAP);
    expect(await passwordMatches('cafe\u0301 fin 12', hash)).toBe(true);
  });

  it('do not pass for another form of hash', async () => {
    await expect(passwordMatches('x', '$2b$10$whatever')).rejects.toThrow('not in the form');
  });
});

describe('a password that may be set', () => {
  it.each([
    ['x'.repeat(11), false],
    ['x'.repeat(12), true],
    ['x'.repeat(256), true],
    ['x'.repeat(257), false],
    ['\u{1f600}'.repeat(11), false],
    ['\u{1f600}'.repeat(12), true],
    ['\u{1f600}'.repeat(256), true],
    // Eleven characters, however they are composed.
    ['e\u0301'.repeat(11), false],
    [undefined, false],
    [123456789012, false],
  ])('%j: %s', (password, good) => {
    expect(hasPermittedLength(password)).toBe(good);
  });
});
