import { nameKey } from './channel-name.js';

describe('the key of the name of a channel', () => {
  it.each(['SOC', 'soc.', 'soc . .', 'ｓｏｃ', 's\u3164oc', 'so\u{1d41c}'])(
    'is for %j that of soc',
    (name) => expect(nameKey(name)).toBe('soc'),
  );

  it('is the same for letters with marks, however they are written', () => {
    expect(nameKey('E\u0301QUIPE')).toBe(nameKey('\u00e9quipe'));
  });

  it.each([
    ['soc 1', 'soc 2'],
    ['soc', 'süc'],
    ['.', '..'],
  ])('is another one for %j and for %j', (one, other) => {
    expect(nameKey(one)).not.toBe(nameKey(other));
  });
});
