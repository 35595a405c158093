import { newSecret, secretProblem, signatureHeaders } from './webhook.js';

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64');

describe('a signature of a webhook', () => {
  it('equals the signature of the example in the specification', () => {
    const headers = signatureHeaders('{"test": 2432232314}', {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      at: new Date(1_614_265_330_000),
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    });
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('contains one signature for each valid secret', () => {
    const [one, other] = [newSecret(), newSecret()];
    const sign = (...secrets: string[]) =>
      signatureHeaders('{}', { id: 'a', at: new Date(0), secrets })['webhook-signature'];
    expect(sign(one, other)).toBe(`${sign(one)} ${sign(other)}`);
  });
});

describe('a secret of a webhook', () => {
  it('is valid and unique if the service generated it', () => {
    const [one, other] = [newSecret(), newSecret()];
    expect(one).not.toBe(other);
    expect(secretProblem(one)).toBeUndefined();
  });

  it.each([24, 25, 26, 64])('is valid with %i bytes', (bytes) => {
    expect(secretProblem(`whsec_${base64(bytes)}`)).toBeUndefined();
  });

  it.each([
    '',
    'whsec_',
    base64(32),
    `whsec_${base64(23)}`,
    `whsec_${base64(65)}`,
    `whsec_${base64(32)} `,
    `whsec_${base64(32).replace('=', '')}`,
    `whsec_${base64(33).replaceAll('B', '-')}`,
    `WHSEC_${base64(32)}`,
  ])('is invalid as %j', (secret) => {
    expect(secretProblem(secret)).toContain('base64');
  });
});
