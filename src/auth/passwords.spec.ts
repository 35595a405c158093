import { dictionary } from '@zxcvbn-ts/language-common';
import {
  hashPassword,
  hasPermittedLength,
  passwordMatches,
  requireStrong,
  SHORTEST_PASSWORD,
} from './passwords.js';

describe('requireStrong', () => {
  it.each([
    'password1234',
    'Password123!',
    'P@ssw0rd2024',
    'passwordpassword',
    'qwertyuiop12',
    '1q2w3e4r5t6y7u8i9o0p',
    'q1w2e3r4t5y6u7i8o9p0',
    '123456789012',
    'iloveyouforever',
    'letmeinletmein',
    'adminadminadmin',
    'abcdefghijkl',
    'xxxxxxxxxxxx',
    'x'.repeat(256),
    'changeme1234',
    // Full-width characters, which some keyboards type.
    '\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff441234',
  ])('rejects %j as too easy to guess', async (password) => {
    await expect(requireStrong(password, 'somebody')).rejects.toThrow('too easy to guess');
  });

  it.each(['incident-triage-service', 'IncidentTriage1!', 'incidenttriage2026', 'SecurityTriage'])(
    'rejects %j, which consists of words of this service',
    async (password) => {
      await expect(requireStrong(password, 'somebody')).rejects.toThrow('words of this service');
    },
  );

  it('rejects every common password that reaches the minimum length', async () => {
    const common = dictionary['passwords-common'].filter(
      (password) => password.length >= SHORTEST_PASSWORD,
    );
    expect(common.length).toBeGreaterThan(300);
    const taken: string[] = [];
    for (const password of common) {
      await requireStrong(password, 'somebody').then(
        () => taken.push(password),
        () => undefined,
      );
    }
    expect(taken).toEqual([]);
  });

  it.each([
    ['jonathan.archer', 'jonathan.archer'],
    ['jonathan.archer', 'Jonathan.Archer'],
    ['jonathan.archer', 'JonathanArcher'],
    ['jonathan.archer', 'archer2026archer'],
    ['j.doe-the-second', 'j.doe-the-second1'],
    ['jonathan.archer', '\uff2aonathan.Archer!'],
  ])('given the user %s, rejects the password %s', async (username, password) => {
    await expect(requireStrong(password, username)).rejects.toThrow('the user name');
  });

  it.each([
    'correct horse battery staple',
    'a password for tests',
    'zw\u00f6lf zeichen \ufb01n',
    'kV9#mq2!Lx7w',
    'Jonathan met 14 blue herons',
    // At least eight characters remain without the user name, so the usual rules apply.
    'archer-kV9#mq2!',
  ])('accepts %j', async (password) => {
    await expect(requireStrong(password, 'jonathan.archer')).resolves.toBeUndefined();
  });
});

describe('hasPermittedLength', () => {
  it.each([
    ['x'.repeat(11), false],
    ['x'.repeat(12), true],
    ['x'.repeat(256), true],
    ['x'.repeat(257), false],
    ['\u{1f600}'.repeat(11), false],
    ['\u{1f600}'.repeat(12), true],
    ['\u{1f600}'.repeat(256), true],
    // Eleven visible characters, each of two code points.
    ['e\u0301'.repeat(11), false],
    // 256 characters of two UTF-16 units each.
    ['\u{11099}\u{110ba}'.repeat(256), true],
    ['\u{11099}\u{110ba}'.repeat(257), false],
    [undefined, false],
    [123456789012, false],
  ])('permits the length of %j: %s', (password, good) => {
    expect(hasPermittedLength(password)).toBe(good);
  });
});

describe('password hashes', () => {
  it('have the cost that OWASP recommends, and match only their password', async () => {
    const hash = await hashPassword('a password of some length');
    expect(hash).toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    );
    expect(await passwordMatches('a password of some length', hash)).toBe(true);
    expect(await passwordMatches('a password of some lengtH', hash)).toBe(false);
    expect(await passwordMatches('', hash)).toBe(false);
  });

  it('match the password if the reference implementation of Argon2id computed them', async () => {
    const known =
      '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await passwordMatches('password', known)).toBe(true);
  });

  it('differ for the same password', async () => {
    const one = await hashPassword('the same password');
    expect(await hashPassword('the same password')).not.toBe(one);
  });

  it('match the password in any Unicode normalization form', async () => {
    const hash = await hashPassword('caf\u00e9 \ufb01n \uff11\uff12');
    expect(await passwordMatches('cafe\u0301 fin 12', hash)).toBe(true);
  });

  it('cause an error if they have another format', async () => {
    await expect(passwordMatches('x', '$2b$10$whatever')).rejects.toThrow(
      'does not have the expected form',
    );
  });
});
