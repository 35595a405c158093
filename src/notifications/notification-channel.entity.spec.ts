import { nameKey } from './notification-channel.entity.js';

describe('the key of a channel name', () => {
  it.each(['SOC', 'soc.', 'soc . .', 'ｓｏｃ', 's\u3164oc', 'so\u{1d41c}'])(
    'of %j is the key of soc',
    (name) => expect(nameKey(name)).toBe('soc'),
  );

  it('is equal for composed and decomposed accents', () => {
    expect(nameKey('E\u0301QUIPE')).toBe(nameKey('\u00e9quipe'));
  });

  it.each([
    ['soc 1', 'soc 2'],
    ['soc', 'süc'],
    ['.', '..'],
  ])('differs for %j and %j', (one, other) => {
    expect(nameKey(one)).not.toBe(nameKey(other));
  });
});
