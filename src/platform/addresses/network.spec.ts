import { bareAddress, countedNetworks, isLoopback, networkOf } from './network.js';

describe('an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['192.0.2.1:51234', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
    ['2001:db8:1:2::1', '2001:db8:1:2::1'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::1'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['192.0.2.256', 'unknown'],
    ['192.0.2.1:', 'unknown'],
    ['192.0.2.1:123456', 'unknown'],
    ['[192.0.2.1', 'unknown'],
    ['unknown', 'unknown'],
    ['_hidden', 'unknown'],
    ['', 'unknown'],
  ])('%j is %s', (written, address) => {
    expect(bareAddress(written)).toBe(address);
  });
});

describe('the machine itself', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::ffff:127.0.0.1', true],
    ['::1', true],
    ['12.7.0.0', false],
    ['192.0.2.127', false],
    ['::2', false],
    ['127.0.0.1.example', false],
  ])('%s: %s', (address, loopback) => {
    expect(isLoopback(address)).toBe(loopback);
  });
});

describe('the network of an address', () => {
  it.each([
    ['192.0.2.1:1', '192.0.2.1:2'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:aaaa::1', '[2001:DB8:1:2:bbbb::2]:443'],
    ['2001:db8:1:2::', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['127.0.0.1', '127.8.9.10'],
    ['one invention', 'another invention'],
  ])('is the same for %s and %s', (one, other) => {
    expect(networkOf(one)).toBe(networkOf(other));
  });

  it.each([
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['::1', '::2'],
  ])('is another for %s and %s', (one, other) => {
    expect(networkOf(one)).not.toBe(networkOf(other));
  });

  it('stands for itself again', () => {
    for (const network of ['192.0.2.1', '::1', 'unknown']) expect(networkOf(network)).toBe(network);
  });

  it('counts with more room in the /48 above it', () => {
    expect(countedNetworks('192.0.2.1')).toEqual([{ name: '192.0.2.1', share: 1 }]);
    expect(countedNetworks('2001:db8:1:2::1')).toEqual([
      { name: '2001:db8:1:2::/64', share: 1 },
      { name: '2001:db8:1::/48', share: 8 },
    ]);
  });
});
