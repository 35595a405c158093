import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { SIGNATURE_SCHEMES, type SignatureScheme } from '../sources/webhook-source.entity.js';
import { signatureHeaders, signatureProblem } from './signature-rules.js';

type Headers = Readonly<Record<string, string | undefined>>;

const SOURCE = 'mail-gateway';
const SECRET = 'a secret of sixteen or more';
const SECONDS = 1_700_000_000;
const NOW = new Date(SECONDS * 1000);
const BODY = Buffer.from('{"a":1}');

interface Case {
  readonly scheme?: SignatureScheme;
  readonly headers: Headers;
  readonly body?: Buffer;
  readonly secret?: string;
  readonly secrets?: readonly { readonly value: string; readonly until?: Date }[];
  readonly now?: Date;
}

function judge({ scheme = 'timestamped', headers, body = BODY, now = NOW, ...given }: Case) {
  const secrets = given.secrets ?? [{ value: given.secret ?? SECRET }];
  const raw = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  );
  const message = { source: SOURCE, headers: signatureHeaders(raw), body };
  return signatureProblem(scheme, secrets, message, now) ?? 'valid';
}

const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]) => {
  const digest = createHmac('sha256', key);
  for (const part of parts) digest.update(part);
  return digest.digest();
};
const timestamped = (
  seconds: number | string = SECONDS,
  secret = SECRET,
  body = BODY,
): Headers => ({
  'X-Webhook-Timestamp': String(seconds),
  'X-Webhook-Signature': `sha256=${hmac(secret, `${seconds}.`, body).toString('hex')}`,
});
const KEY = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const standard = (seconds: number | string = SECONDS, id = 'msg_1', body = BODY): Headers => ({
  'webhook-id': id,
  'webhook-timestamp': String(seconds),
  'webhook-signature': `v1,${hmac(Buffer.from(KEY, 'base64'), `${id}.${seconds}.`, body).toString('base64')}`,
});
const signedBody = (secret = SECRET, body = BODY): string => hmac(secret, body).toString('hex');
const basic = (text: string, encoding: BufferEncoding = 'utf8'): string =>
  `Basic ${Buffer.from(text, encoding).toString('base64')}`;
/** Schemes without a signature. */
const BARE: readonly SignatureScheme[] = ['token', 'basic'];
/** Headers of a valid request, by scheme. */
const VALID: Readonly<Record<SignatureScheme, Case>> = {
  timestamped: { scheme: 'timestamped', headers: timestamped() },
  body: { scheme: 'body', headers: { 'X-Webhook-Signature': signedBody() } },
  standard: { scheme: 'standard', headers: standard(), secret: `whsec_${KEY}` },
  token: { scheme: 'token', headers: { 'X-Webhook-Token': SECRET } },
  basic: { scheme: 'basic', headers: { Authorization: basic(`${SOURCE}:${SECRET}`) } },
};

describe('the signature of a webhook request', () => {
  // These signatures were computed by another program (Python's hmac).
  it.each([
    [
      BODY,
      '00b2ef187e71b97566739177ec4cfdebf3b811fdc7176ef4af8ca32e7ecbc476',
      'fec0858502efb923fe9341fed4001d17ace7523ed7987af346abee9e3f57760e',
    ],
    [
      Buffer.from(''),
      'de35aaf58d9381de873278954f7974e0111cccd789d14500e5bafbf03a8f713d',
      '3e31f3de80843b8346d9e529dd849e6b25166a6ed6e8d07d611f7e0169945eef',
    ],
    [
      Buffer.from('\ufeff{"a":1}\r\n'),
      '60367e7c955e41cdaf71c962cb58915aa826713938dfb93437db44c8a24d2b32',
      '788f80598db2c194a20d4afcdb3fbab55685e27e69ae4f2b3828b84b0d8e130f',
    ],
    [
      Buffer.from('{"a":"\xff\0\xc0"}', 'latin1'),
      '97e04be49aa4c2a25ff4b690d3224f1722939c530f44dc57737f808799a8776a',
      '65179e17c76a64b806c868e881e3916748069aab4a5324b3f5a6e325428aad98',
    ],
  ])('covers the exact bytes of %j', (body, withTime, alone) => {
    const headers = {
      'X-Webhook-Timestamp': String(SECONDS),
      'X-Webhook-Signature': `sha256=${withTime}`,
    };
    expect(judge({ headers, body })).toBe('valid');
    expect(judge({ scheme: 'body', headers: { 'x-signature': alone }, body })).toBe('valid');
    expect(judge({ headers: { ...headers, 'X-Webhook-Signature': alone }, body })).toBe(
      'invalid_signature',
    );
    const changed = Buffer.concat([body, Buffer.from('\n')]);
    expect(judge({ headers, body: changed })).toBe('invalid_signature');
  });

  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  it('equals the example of GitHub', () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const sent = {
      scheme: 'body',
      secret: "It's a Secret to Everybody",
      body: Buffer.from('Hello, World!'),
    } as const;
    expect(judge({ ...sent, headers: { 'X-Hub-Signature-256': signature } })).toBe('valid');
  });

  it.each(SIGNATURE_SCHEMES)('of %s is invalid if a header is absent or empty', (scheme) => {
    const valid = VALID[scheme];
    expect(judge(valid)).toBe('valid');
    for (const name of Object.keys(valid.headers)) {
      for (const value of [undefined, '']) {
        expect(judge({ ...valid, headers: { ...valid.headers, [name]: value } })).toBe(
          'invalid_signature',
        );
      }
    }
  });

  it.each(SIGNATURE_SCHEMES)('of %s is invalid for another body, secret or scheme', (scheme) => {
    const valid = VALID[scheme];
    if (!BARE.includes(scheme))
      expect(judge({ ...valid, body: Buffer.from('{"a":2}') })).toBe('invalid_signature');
    for (const secret of [
      'another secret of that length',
      `${SECRET}\n`,
      ` ${SECRET}`,
      '',
      'whsec_',
      'whsec_x',
    ]) {
      expect(judge({ ...valid, secret })).toBe('invalid_signature');
    }
    expect(judge({ ...valid, secrets: [] })).toBe('invalid_signature');
    for (const other of SIGNATURE_SCHEMES.filter((one) => one !== scheme)) {
      expect(judge({ ...valid, scheme: other })).toBe('invalid_signature');
    }
  });

  it.each(SIGNATURE_SCHEMES)(
    'of %s is invalid if a character of a header or a byte of the body differs',
    (scheme) => {
      const valid = VALID[scheme];
      const names = Object.keys(valid.headers);
      fc.assert(
        fc.property(
          fc.constantFrom(...names),
          fc.nat(),
          fc.constantFrom(...'0aF+/=_.,: \n'),
          (name, at, char) => {
            const value = valid.headers[name]!;
            const index = at % value.length;
            const changed = value.slice(0, index) + char + value.slice(index + 1);
            // The prefix and hexadecimal digits may be in upper or lower case.
            fc.pre(changed.toLowerCase() !== value.toLowerCase() && changed.trim() !== value);
            expect(judge({ ...valid, headers: { ...valid.headers, [name]: changed } })).toBe(
              'invalid_signature',
            );
          },
        ),
        { numRuns: 500 },
      );
      if (BARE.includes(scheme)) return;
      fc.assert(
        fc.property(fc.nat(BODY.length - 1), fc.integer({ min: 1, max: 255 }), (at, bits) => {
          const body = Buffer.from(BODY);
          body[at]! ^= bits;
          expect(judge({ ...valid, body })).toBe('invalid_signature');
        }),
      );
    },
  );

  it.each(SIGNATURE_SCHEMES)('of %s is invalid for headers with random text', (scheme) => {
    const text = fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)) });
    const shaped = fc.oneof(
      text,
      fc.stringMatching(/^(sha256=)?[0-9a-f]{64}$/),
      fc.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      fc.stringMatching(/^Bearer .{1,40}$/),
      fc.stringMatching(/^Basic [A-Za-z0-9+/]{4,60}={0,2}$/),
      fc.stringMatching(/^v1=[0-9a-f]{64}(,v1=[0-9a-f]{64}){0,3}$/),
      fc.constant(String(SECONDS)),
    );
    const names = [
      'x-webhook-signature',
      'x-signature',
      'x-hub-signature-256',
      'x-webhook-timestamp',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'x-webhook-token',
      'authorization',
      'x-pagerduty-signature',
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), shaped), (headers) => {
        expect(judge({ ...VALID[scheme], headers })).toBe('invalid_signature');
      }),
      { numRuns: 300 },
    );
  });

  describe('in its header', () => {
    const hex = signedBody();
    const at = (headers: Headers) => judge({ scheme: 'body', headers });

    it.each(['X-Webhook-Signature', 'X-Signature', 'X-Hub-Signature-256', 'x-hub-signature-256'])(
      'is read from %s',
      (name) => {
        for (const value of [
          hex,
          `sha256=${hex}`,
          hex.toUpperCase(),
          `SHA256=${hex.toUpperCase()}`,
        ]) {
          expect(at({ [name]: value })).toBe('valid');
        }
      },
    );

    it('is read from the first header that is present', () => {
      const wrong = '0'.repeat(64);
      expect(
        at({ 'X-Webhook-Signature': hex, 'X-Signature': wrong, 'X-Hub-Signature-256': wrong }),
      ).toBe('valid');
      expect(at({ 'X-Signature': hex, 'X-Hub-Signature-256': wrong })).toBe('valid');
      expect(at({ 'X-Webhook-Signature': wrong, 'X-Signature': hex })).toBe('invalid_signature');
      expect(at({ 'X-Webhook-Signature': '', 'X-Signature': hex })).toBe('invalid_signature');
      expect(at({ 'X-Signature': wrong, 'X-Hub-Signature-256': hex })).toBe('invalid_signature');
    });

    it.each([
      hex.slice(1),
      `${hex}0`,
      `${hex} `,
      `sha1=${hex}`,
      `sha512=${hex}`,
      `v1=${hex}`,
      `sha256= ${hex}`,
      `sha256=sha256=${hex}`,
      `sha256:${hex}`,
      Buffer.from(hex, 'hex').toString('base64'),
      `${hex}, ${hex}`,
      `${'0'.repeat(64)},${hex}`,
      'sha256=',
      'x'.repeat(10_000),
    ])('is invalid as %s', (value) => {
      expect(at({ 'X-Webhook-Signature': value })).toBe('invalid_signature');
    });

    it.each(SIGNATURE_SCHEMES)('of %s is invalid if a header occurs twice', (scheme) => {
      const valid = VALID[scheme];
      const raw = Object.entries(valid.headers).flatMap(([name, value]) => [name, value!]);
      const secrets = [{ value: valid.secret ?? SECRET }];
      for (const [name, value] of Object.entries(valid.headers)) {
        for (const twin of [value!, 'x', '']) {
          for (const twice of [
            [...raw, name.toUpperCase(), twin],
            [name, twin, ...raw],
          ]) {
            const message = { source: SOURCE, headers: signatureHeaders(twice), body: BODY };
            expect(signatureProblem(scheme, secrets, message, NOW)).toBe('invalid_signature');
          }
        }
      }
    });
  });

  describe('with a time', () => {
    const TIMED = { timestamped, standard } as const;
    const timed = (scheme: keyof typeof TIMED, seconds: number | string, now = NOW) =>
      judge({ ...VALID[scheme], headers: TIMED[scheme](seconds), now });

    it.each([
      [-301, 'timestamp_expired'],
      [-300, 'valid'],
      [-1, 'valid'],
      [0, 'valid'],
      [300, 'valid'],
      [301, 'timestamp_expired'],
      [-SECONDS, 'timestamp_expired'],
      [SECONDS * 999, 'timestamp_expired'],
    ])('that is %d s off is %s', (off, judgement) => {
      expect(timed('timestamped', SECONDS + off)).toBe(judgement);
      expect(timed('standard', SECONDS + off)).toBe(judgement);
    });

    it('is judged by its time in whole seconds', () => {
      const late = new Date(NOW.getTime() + 999);
      expect(timed('timestamped', SECONDS - 300, late)).toBe('valid');
      expect(timed('timestamped', SECONDS - 300, new Date(NOW.getTime() + 1_000))).toBe(
        'timestamp_expired',
      );
      expect(timed('timestamped', SECONDS + 300, late)).toBe('valid');
    });

    it.each([
      '',
      'now',
      '1e9',
      `${SECONDS}.0`,
      `+${SECONDS}`,
      `-${SECONDS}`,
      ` ${SECONDS}`,
      `0x${SECONDS.toString(16)}`,
      NOW.toISOString(),
      '١٧',
      '9'.repeat(16),
      'Infinity',
      'NaN',
    ])('is invalid for the signed time %j', (written) => {
      expect(timed('timestamped', written)).toBe('invalid_signature');
      expect(timed('standard', written)).toBe('invalid_signature');
    });

    it('counts as expired only if the sender knows the secret', () => {
      const headers = { ...timestamped(SECONDS - 9_999), 'X-Webhook-Signature': '0'.repeat(64) };
      expect(judge({ headers })).toBe('invalid_signature');
    });

    it('is invalid if the time in the header was changed', () => {
      const headers = { ...timestamped(SECONDS - 9_999), 'X-Webhook-Timestamp': String(SECONDS) };
      expect(judge({ headers })).toBe('invalid_signature');
    });
  });

  describe('while secrets change', () => {
    const before = 'the secret before this one';
    const until = (ms: number) => [
      { value: SECRET },
      { value: before, until: new Date(NOW.getTime() + ms) },
    ];

    it.each([
      ['timestamped', timestamped(SECONDS, before)],
      ['body', { 'X-Webhook-Signature': signedBody(before) }],
      ['token', { 'X-Webhook-Token': before }],
      ['basic', { Authorization: basic(`${SOURCE}:${before}`) }],
    ] as const)(
      'of %s is valid with the previous secret until the secret expires',
      (scheme, headers) => {
        expect(judge({ scheme, headers, secrets: until(1) })).toBe('valid');
        expect(judge({ scheme, headers, secrets: until(0) })).toBe('invalid_signature');
        expect(judge({ ...VALID[scheme], secrets: until(-1) })).toBe('valid');
      },
    );
  });

  // Test vectors of the reference libraries: https://github.com/standard-webhooks/standard-webhooks
  describe('of Standard Webhooks', () => {
    const WRONG = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';
    const vector = {
      scheme: 'standard',
      secret: `whsec_${KEY}`,
      body: Buffer.from('{"test": 2432232314}'),
      now: new Date(1_614_265_330_000),
    } as const;
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const signature = headers['webhook-signature'];
    const withSignature = (value: string, changed: Partial<Case> = {}) =>
      judge({ ...vector, ...changed, headers: { ...headers, 'webhook-signature': value } });

    it('equals the reference vector, with and without the prefix of the secret', () => {
      expect(judge({ ...vector, headers })).toBe('valid');
      expect(judge({ ...vector, headers, secret: KEY })).toBe('valid');
    });

    it('is valid with a secret in base64 without padding', () => {
      const bytes = Buffer.alloc(25, 7);
      const digest = createHmac('sha256', bytes).update('m.1614265330.{}').digest('base64');
      const given = {
        ...vector,
        body: Buffer.from('{}'),
        headers: { ...headers, 'webhook-id': 'm', 'webhook-signature': `v1,${digest}` },
      };
      const padded = bytes.toString('base64');
      expect(padded).toMatch(/=$/);
      for (const encoded of [padded, padded.replace(/=+$/, '')]) {
        expect(judge({ ...given, secret: `whsec_${encoded}` })).toBe('valid');
      }
    });

    it('is valid with a secret that is plain text', () => {
      const raw = hmac(KEY, `${headers['webhook-id']}.1614265330.`, vector.body).toString('base64');
      expect(withSignature(`v1,${raw}`, { secret: KEY })).toBe('valid');
      expect(withSignature(`v1,${raw}`)).toBe('invalid_signature');
    });

    it.each([
      [`${WRONG} ${signature}`, 'valid'],
      [`${WRONG} v2,${WRONG.slice(3)} ${signature} ${WRONG}`, 'valid'],
      [`v1a,abc ${signature}`, 'valid'],
      [`nonsense ${signature}`, 'valid'],
      [`${WRONG} ${WRONG}`, 'invalid_signature'],
      [signature.replace('v1,', 'v2,'), 'invalid_signature'],
      [signature.replace('v1,', 'v1a,'), 'invalid_signature'],
      [signature.slice(3), 'invalid_signature'],
      [signature.slice(0, 8), 'invalid_signature'],
      [signature.slice(0, -1), 'invalid_signature'],
      ['v1,', 'invalid_signature'],
      [`${WRONG}, ${signature},`, 'invalid_signature'],
      [signature.replace('+', '-').replace('/', '_'), 'invalid_signature'],
      // This spelling decodes to the same bytes, but is still invalid.
      [signature.replace('OE=', 'OF='), 'invalid_signature'],
      ['v1,x '.repeat(3_000), 'invalid_signature'],
    ])('in the list %.60s is %s', (list, judgement) => {
      expect(withSignature(list)).toBe(judgement);
    });

    it('is invalid for another id', () => {
      for (const id of ['msg_other', '', 'a b', 'x'.repeat(257)]) {
        expect(judge({ ...vector, headers: { ...headers, 'webhook-id': id } })).toBe(
          'invalid_signature',
        );
      }
    });
  });

  describe('by a token', () => {
    const at = (headers: Headers, secret = SECRET) => judge({ scheme: 'token', headers, secret });

    it('is valid if either of two headers contains the secret', () => {
      expect(at({ 'X-Webhook-Token': SECRET })).toBe('valid');
      for (const word of ['Bearer', 'bearer', 'BEARER ']) {
        expect(at({ Authorization: `${word} ${SECRET}` })).toBe('valid');
      }
      expect(at({ 'X-Webhook-Token': SECRET, Authorization: 'Basic eDp5' })).toBe('valid');
    });

    it('may contain letters of any language, in UTF-8', () => {
      const secret = 'geheim: Schlüssel 🔑';
      expect(at({ 'X-Webhook-Token': Buffer.from(secret).toString('latin1') }, secret)).toBe(
        'valid',
      );
    });

    it.each([
      { 'X-Webhook-Token': SECRET.slice(1) },
      { 'X-Webhook-Token': SECRET.toUpperCase() },
      { 'X-Webhook-Token': `Bearer ${SECRET}` },
      { 'X-Webhook-Token': 'wrong', Authorization: `Bearer ${SECRET}` },
      { Authorization: SECRET },
      { Authorization: `Basic ${SECRET}` },
      { Authorization: `Basic ${Buffer.from(`:${SECRET}`).toString('base64')}` },
      { Authorization: `Bearer${SECRET}` },
      { Authorization: 'Bearer' },
      { Authorization: 'Bearer ' },
    ])('is invalid as %j', (headers) => {
      expect(at(headers)).toBe('invalid_signature');
    });
  });

  describe('by a password', () => {
    const at = (authorization: string) => judge({ scheme: 'basic', headers: { authorization } });

    it('is the name of the source and the secret', () => {
      for (const word of ['Basic', 'basic', 'BASIC ']) {
        expect(at(basic(`${SOURCE}:${SECRET}`).replace('Basic', word))).toBe('valid');
      }
    });

    it.each([
      basic(`other:${SECRET}`),
      basic(`:${SECRET}`),
      basic(`${SOURCE}:`),
      basic(`${SOURCE}:${SECRET}x`),
      basic(`${SOURCE.toUpperCase()}:${SECRET}`),
      basic(`${SOURCE}${SECRET}`),
      basic(`${SOURCE}:${SECRET}`).slice(6),
      basic(`${SOURCE}:${SECRET}`).replace('Basic', 'Bearer'),
      `Basic ${SOURCE}:${SECRET}`,
      `Bearer ${SECRET}`,
      'Basic',
      'Basic ',
    ])('is invalid as %s', (authorization) => {
      expect(at(authorization)).toBe('invalid_signature');
    });
  });

  describe('of PagerDuty', () => {
    const at = (value: string, more: Headers = {}) =>
      judge({ scheme: 'body', headers: { 'X-PagerDuty-Signature': value, ...more } });
    const right = `v1=${signedBody()}`;
    const other = `v1=${signedBody('another secret of that length')}`;

    it('may be one of several signatures in the header', () => {
      for (const list of [right, `${other},${right}`, `${right}, ${other}`, `v2=00,${right}`]) {
        expect(at(list)).toBe('valid');
      }
    });

    it.each([
      other,
      `${other},${other}`,
      signedBody(),
      `sha256=${signedBody()}`,
      `v2=${signedBody()}`,
      `${right.slice(0, -1)}`,
      '',
    ])('is invalid as %.40s', (value) => {
      expect(at(value)).toBe('invalid_signature');
    });

    it('is invalid for the scheme timestamped', () => {
      const headers = { 'X-PagerDuty-Signature': right, 'X-Webhook-Timestamp': String(SECONDS) };
      expect(judge({ scheme: 'timestamped', headers })).toBe('invalid_signature');
    });
  });
});
