import { targetRules } from './target-rules.js';

describe('targetRules', () => {
  const rules = targetRules([]);

  it.each(['8.8.8.8', '1.1.1.1', '100.128.0.1', '172.32.0.1', '2606:4700:4700::1111', '2a00::1'])(
    'allows the public address %s',
    (address) => expect(rules(address)).toBeUndefined(),
  );

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.9.9.9',
    '169.254.1.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:0a00:0001',
    '::127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::8.8.8.8',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '2001:0:4136:e378::1',
    '2001:db8::1',
    'fec0::1',
    '100::1',
  ])('refuses %s, which is not a public address', (address) =>
    expect(rules(address)).toBe('private'),
  );

  it.each(['localhost', '', '2130706433', '0x7f000001', '127.1', '1.2.3', '::g'])(
    'refuses %p, which is not an address',
    (address) => expect(rules(address)).toBe('no address'),
  );

  describe('with exceptions', () => {
    const open = targetRules(['10.0.0.0/8', '::1', '0.0.0.0/0', '::/0']);

    it.each(['10.1.2.3', '::1', '::ffff:10.1.2.3', '127.0.0.1'])(
      'allows %s, which is in an exception',
      (address) => expect(open(address)).toBeUndefined(),
    );

    it.each([
      '169.254.169.254',
      '169.254.170.2',
      '100.100.100.200',
      '168.63.129.16',
      'fd00:ec2::254',
      'fd00:0ec2:0:0:0:0:0:254',
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      '64:ff9b::169.254.169.254',
      '2002:a9fe:a9fe::1',
      '::169.254.169.254',
    ])('always refuses the cloud metadata address %s', (address) =>
      expect(open(address)).toBe('metadata'),
    );

    it('refuses a private address outside the exceptions', () => {
      expect(targetRules(['10.0.0.0/8'])('192.168.0.1')).toBe('private');
    });

    it.each(['::10.1.2.3', '64:ff9b::10.1.2.3', '2002:a01:203::1'])(
      'refuses %s although its embedded IPv4 address is allowed, because the socket connects elsewhere',
      (address) => expect(targetRules(['10.0.0.0/8'])(address)).toBe('private'),
    );
  });
});
