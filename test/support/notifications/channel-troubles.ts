import { type ChannelType, failureOf } from '../../../src/notifications/channel-type.js';
import type { Outcome } from '../../../src/notifications/delivery.js';
import type { Message } from '../../../src/notifications/notification.js';
import type { OutboundSmtp } from '../../../src/platform/net/outbound-smtp.js';
import { type Config, withDefaults } from '../../../src/targets/target-config.js';
import { eventually } from '../jobs/eventually.js';
import type { Trouble, VendorServer } from '../vendors/vendor-server.js';
import { SiteHttp } from '../vendors/vendor-site.js';
import { messageWith } from './messages.js';

export interface Channel {
  deliver(message: Message, signal?: AbortSignal): Promise<Outcome>;
}

/** A configured channel that can reach the loopback. */
export function channelOf(type: ChannelType, config: Config, smtp = {} as OutboundSmtp): Channel {
  const attempt = { config: withDefaults(type.config, config), http: new SiteHttp(), smtp };
  return {
    async deliver(message, signal = new AbortController().signal): Promise<Outcome> {
      try {
        return await type.send({ ...attempt, message, signal });
      } catch (error) {
        const failure = failureOf(error);
        if (failure) return failure;
        throw error;
      }
    },
  };
}

interface Subject {
  readonly server: VendorServer;
  readonly channel: Channel;
  /** Number of arrived messages. */
  readonly arrived: () => number;
}

/** Defines tests for every channel over HTTP: its behaviour when its receiver or the network fails. */
export function describeChannelTroubles(subject: () => Subject): void {
  const deliver = (signal?: AbortSignal): Promise<Outcome> =>
    subject().channel.deliver(messageWith(), signal);

  it('delivers a message in one request', async () => {
    expect(await deliver()).toEqual({ kind: 'delivered' });
    expect([subject().server.calls.length, subject().arrived()]).toEqual([1, 1]);
  });

  it.each([500, 502, 503, 403, 404, 410])(
    'fails with status %i, without a retry',
    async (status) => {
      subject().server.play(status);
      expect(await deliver()).toMatchObject({
        kind: 'failed',
        why: expect.stringContaining(`status ${status}.`) as unknown,
      });
      expect([subject().server.calls.length, subject().arrived()]).toEqual([1, 0]);
    },
  );

  it('returns the wait time that the receiver requires', async () => {
    subject().server.retryAfter = '30';
    subject().server.play(429);
    const busy = { kind: 'failed', isBusy: true, retryAfterMs: 30_000 };
    expect(await deliver()).toMatchObject(busy);
  });

  it.each([400, 413])('is refused with status %i', async (status) => {
    subject().server.play(status);
    expect(await deliver()).toMatchObject({ kind: 'refused' });
  });

  it('does not follow a redirect into a private network', async () => {
    const headers = { location: 'http://169.254.169.254/latest/meta-data/' };
    subject().server.play({ status: 307, headers });
    const why = 'The receiver answered with status 307: redirects are not followed.';
    expect(await deliver()).toEqual({ kind: 'failed', why, retryAfterMs: undefined });
    expect(subject().server.calls).toHaveLength(1);
  });

  it.each<Trouble>(['html', 'drop', 'drop-after'])('fails by %s', async (trouble) => {
    subject().server.play(trouble, trouble);
    expect(await deliver()).toMatchObject({ kind: 'failed' });
  });

  it('ends when it is aborted while the receiver hangs', async () => {
    subject().server.play('hang');
    const giveUp = new AbortController();
    const outcome = deliver(giveUp.signal);
    await eventually(() => subject().arrived() > 0);
    giveUp.abort();
    expect(await outcome).toMatchObject({ kind: 'failed' });
  });
}
