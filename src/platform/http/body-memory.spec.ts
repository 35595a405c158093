import { BodyMemory, BodyShare, SMALL_BODY_BYTES, Stranger } from './body-memory.js';

const MIB = 1024 * 1024;
const memory = (): BodyMemory => new BodyMemory(16 * MIB, MIB);
const at = (network: number): Stranger => Stranger.at(`192.0.2.${network}`);
const small = (of: BodyMemory, sender: string | Stranger): boolean =>
  of.reserve(SMALL_BODY_BYTES, sender, true);
const large = (of: BodyMemory, sender: string | Stranger): boolean =>
  of.reserve(MIB, sender, false);
const fill = (take: () => boolean): number => {
  let taken = 0;
  while (take()) taken += 1;
  return taken;
};

describe('The memory for bodies', () => {
  it('has room for two bodies of the largest size from one network', () => {
    const bodies = memory();
    expect(fill(() => large(bodies, at(1)))).toBe(2);
    expect(large(bodies, at(2))).toBe(true);
  });

  it('always has room for a small body of another network while a few flood it', () => {
    const bodies = memory();
    const flooding = [1, 2, 3, 4, 5, 6].map(at);
    for (const sender of flooding) fill(() => large(bodies, sender));
    for (const sender of flooding) fill(() => small(bodies, sender));
    expect(large(bodies, at(7))).toBe(false);
    expect(fill(() => small(bodies, at(7)))).toBe(32);
  });

  it('has room for small bodies of a network that fills its room for large ones', () => {
    const bodies = memory();
    expect(fill(() => large(bodies, at(1)))).toBe(2);
    expect(fill(() => small(bodies, at(1)))).toBe(32);
    expect(fill(() => large(bodies, at(1)))).toBe(0);
  });

  it('counts a body as large once it announces or reaches a large size', () => {
    const bodies = memory();
    const shareOf = (bytes: number, announced?: number): BodyShare => {
      const share = new BodyShare(bodies, announced);
      expect(share.assignTo(at(1))).toBe(true);
      expect(share.resize(bytes)).toBe(true);
      return share;
    };
    const announced = Array.from({ length: 48 }, () => shareOf(SMALL_BODY_BYTES, MIB));
    const grown = [shareOf(MIB / 2), shareOf(MIB / 2)];
    expect(fill(() => small(bodies, at(1)))).toBe(32);
    [...announced, ...grown].forEach((share) => share.release());
    expect(fill(() => large(bodies, at(1)))).toBe(2);
  });

  it('cuts off old slow bodies of a network, not one that has only begun to arrive', () => {
    const bodies = memory();
    const cut: string[] = [];
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const arriving = (name: string, bytes: number): BodyShare => {
      const share = new BodyShare(bodies, bytes + 1);
      expect(share.assignTo(at(1))).toBe(true);
      share.awaitRest(() => cut.push(name));
      expect(share.resize(bytes)).toBe(true);
      return share;
    };
    for (let count = 0; count < 100; count += 1) arriving('slow', 5_000);
    clock.mockReturnValue(10_000);
    arriving('begun', 12_000);
    clock.mockReturnValue(10_001);
    for (let count = 0; count < 20; count += 1) arriving('more', 10_000);
    expect(cut.length).toBeGreaterThan(10);
    expect(new Set(cut)).toEqual(new Set(['slow']));
    expect(small(bodies, at(2))).toBe(true);
    clock.mockRestore();
  });

  it('takes all addresses of one IPv6 network for one sender, and those around it for two', () => {
    const bodies = memory();
    expect(fill(() => small(bodies, Stranger.at('2001:db8::1')))).toBe(32);
    expect(small(bodies, Stranger.at('2001:db8::2'))).toBe(false);
    const subnets = Array.from({ length: 50 }, (_, at) => Stranger.at(`2001:db8:0:${at + 1}::1`));
    for (const one of subnets) fill(() => small(bodies, one));
    expect(fill(() => small(bodies, Stranger.at('2001:db8:1::1')))).toBe(32);
    expect(small(bodies, Stranger.at('2001:db8:0:ff::1'))).toBe(false);
  });

  it('leaves half of it to who is known, however many strangers there are', () => {
    const bodies = memory();
    for (let network = 0; network < 256; network += 1) fill(() => small(bodies, at(network)));
    expect(small(bodies, Stranger.at('198.51.100.1'))).toBe(false);
    expect(fill(() => large(bodies, 'ada'))).toBe(4);
    expect(small(bodies, 'eve')).toBe(true);
  });

  it('is as it was when all is released, whoever it was counted for', () => {
    const bodies = memory();
    const senders = ['192.0.2.1', at(1), Stranger.at('2001:db8::1')];
    const taken = senders.map((sender) => fill(() => small(bodies, sender)));
    senders.forEach((sender, index) =>
      bodies.release(taken[index]! * SMALL_BODY_BYTES, sender, true),
    );
    expect(senders.map((sender) => fill(() => small(bodies, sender)))).toEqual(taken);
  });

  it('has room for one body, however little memory there is', () => {
    for (const sender of ['ada', at(1)]) {
      expect(new BodyMemory(MIB, MIB).reserve(MIB, sender, false)).toBe(true);
      expect(new BodyMemory(65_536, 1_024).reserve(SMALL_BODY_BYTES, sender, true)).toBe(true);
    }
  });
});
