import { hashPassword, passwordMatches } from './passwords.js';

describe('Password hashes', () => {
  it('have the cost that OWASP recommends, and match only their password', async () => {
    const hash = await hashPassword('a password of some length');
    expect(hash).toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    );
    expect(await passwordMatches('a password of some length', hash)).toBe(true);
    expect(await passwordMatches('a password of some lengtH', hash)).toBe(false);
    expect(await passwordMatches('', hash)).toBe(false);
  });

  it('match a hash of the reference implementation of Argon2id', async () => {
    const known =
      '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await passwordMatches('password', known)).toBe(true);
  });

  it('differ for the same password', async () => {
    const one = await hashPassword('the same password');
    expect(await hashPassword('the same password')).not.toBe(one);
  });

  it('match a password in any Unicode encoding', async () => {
    const hash = await hashPassword('caf\u00e9 \ufb01n \uff11\uff12');
    expect(await passwordMatches('cafe\u0301 fin 12', hash)).toBe(true);
  });

  it('throw for a hash of another form', async () => {
    await expect(passwordMatches('x', '$2b$10$whatever')).rejects.toThrow(
      'does not have the expected form',
    );
  });
});
