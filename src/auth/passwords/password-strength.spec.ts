import { dictionary } from '@zxcvbn-ts/language-common';
import { SHORTEST_PASSWORD } from './password-requirements.js';
import { weaknessOf } from './password-strength.js';

describe('a password that may be set', () => {
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
    // Full width, as another keyboard types it.
    '\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff441234',
  ])('is not as common as %j', async (password) => {
    expect(await weaknessOf(password, 'somebody')).toContain('too easy to guess');
  });

  it.each(['incident-triage-service', 'IncidentTriage1!', 'incidenttriage2026', 'SecurityTriage'])(
    'is not made of words of this service: %j',
    async (password) => {
      expect(await weaknessOf(password, 'somebody')).toContain('words of this service');
    },
  );

  it('is none of the common ones that are long enough', async () => {
    const common = dictionary['passwords-common'].filter(
      (password) => password.length >= SHORTEST_PASSWORD,
    );
    expect(common.length).toBeGreaterThan(300);
    const taken = [];
    for (const password of common) {
      if (!(await weaknessOf(password, 'somebody'))) taken.push(password);
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
  ])('of %s is not %s', async (username, password) => {
    expect(await weaknessOf(password, username)).toContain('the user name');
  });

  it.each([
    'correct horse battery staple',
    'a password for tests',
    'zw\u00f6lf zeichen \ufb01n',
    'kV9#mq2!Lx7w',
    'Jonathan met 14 blue herons',
    // Eight characters beside the name are judged as they are.
    'archer-kV9#mq2!',
  ])('may be %j', async (password) => {
    expect(await weaknessOf(password, 'jonathan.archer')).toBeUndefined();
  });
});
