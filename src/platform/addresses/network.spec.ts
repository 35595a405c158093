import { bareAddress, isLoopback, networkOf } from './network.js';

describe('bareAddress', () => {
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
  ])('reads %j as %s', (written, address) => {
    expect(bareAddress(written)).toBe(address);
  });
});

describe('isLoopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::ffff:127.0.0.1', true],
    ['::1', true],
    ['12.7.0.0', false],
    ['192.0.2.127', false],
    ['::2', false],
    ['127.0.0.1.example', false],
  ])('returns whether %s is this machine: %j', (address, loopback) => {
    expect(isLoopback(address)).toBe(loopback);
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.1:1', '192.0.2.1:2'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:aaaa::1', '[2001:DB8:1:2:bbbb::2]:443'],
    ['2001:db8:1:2::', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['127.0.0.1', '127.8.9.10'],
    ['one invention', 'another invention'],
  ])('returns the same network for %s and %s', (one, other) => {
    expect(networkOf(one)).toBe(networkOf(other));
  });

  it.each([
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['::1', '::2'],
  ])('returns different networks for %s and %s', (one, other) => {
    expect(networkOf(one)).not.toBe(networkOf(other));
  });

  it('returns a network unchanged', () => {
    for (const network of ['192.0.2.1', '::1', 'unknown']) expect(networkOf(network)).toBe(network);
  });
});
