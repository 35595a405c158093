import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { ReceivingSecret, SignatureScheme } from '../sources/webhook-source.entity.js';

type SignatureHeaders = ReadonlyMap<string, string>;

/**
 * Reads the headers as sent. A duplicate header becomes empty, which is invalid in each scheme: Node would join both values or take the
 * first, and a proxy may have checked the other value.
 */
export function signatureHeaders(rawHeaders: readonly string[]): SignatureHeaders {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    headers.set(name, headers.has(name) ? '' : rawHeaders[index + 1]!);
  }
  return headers;
}

/** The only header in which Cloudflare can send the secret. */
const CLOUDFLARE_TOKEN = 'cf-webhook-auth';

/** Tolerance in both directions. A captured message can be replayed during this time. */
export const TOLERANCE_SECONDS = 300;

export type SignatureProblem = 'invalid_signature' | 'timestamp_expired';

export interface SignedMessage {
  /** Name of the source, and user name of Basic authentication. */
  readonly source: string;
  readonly headers: SignatureHeaders;
  readonly body: Buffer;
}

/** A signature is valid if any sent value equals any value that is expected for a secret. */
interface Scheme {
  readonly timestampHeader?: string;
  readonly sent: (message: SignedMessage) => readonly Buffer[];
  readonly expected: (secret: string, message: SignedMessage) => readonly Buffer[];
}

/**
 * Returns the problem of the signature, or `undefined` for a valid signature. Checks the time last, so that only a sender with the secret
 * learns that its clock is wrong.
 */
export function signatureProblem(
  scheme: SignatureScheme,
  secrets: readonly ReceivingSecret[],
  message: SignedMessage,
  now: Date,
): SignatureProblem | undefined {
  const { timestampHeader, sent, expected } = SCHEMES[scheme];
  const values = sent(message);
  const valid = secrets.filter(({ until }) => !until || until > now);
  const isSigned = valid
    .flatMap(({ value }) => expected(value, message))
    .some((digest) => values.some((value) => equal(value, digest)));
  if (!isSigned) return 'invalid_signature';
  if (timestampHeader === undefined) return undefined;
  const seconds = Number(message.headers.get(timestampHeader));
  const off = Math.abs(Math.floor(now.getTime() / 1000) - seconds);
  return off <= TOLERANCE_SECONDS ? undefined : 'timestamp_expired';
}

/**
 * Identifies a message by time and content, to detect the replay of a captured message. Returns `undefined` for schemes that do not sign
 * the time, because their senders may repeat messages.
 */
export function messageName(scheme: SignatureScheme, message: SignedMessage): string | undefined {
  const { timestampHeader } = SCHEMES[scheme];
  if (timestampHeader === undefined) return undefined;
  const time = message.headers.get(timestampHeader) ?? '';
  return `${time} ${hash('sha256', message.body, 'base64url')}`;
}

const TIMESTAMP = /^\d{1,15}$/;
const HEX_SIGNATURE = /^(?:sha256=)?([0-9a-f]{64})$/i;
const STANDARD_ID = /^[\x21-\x7e]{1,256}$/;
/** Accepts only one spelling per digest: the last letter ends with zero bits. */
const STANDARD_SIGNATURE = /^v1,([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)$/;
const STANDARD_SECRET = /^whsec_/;
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const BEARER = /^bearer +(.+)$/i;
const BASIC = /^basic +(.+)$/i;
const PAGERDUTY_SIGNATURE = /^ *v1=([0-9a-f]{64}) *$/i;

const SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  timestamped: {
    timestampHeader: 'x-webhook-timestamp',
    sent: ({ headers }) =>
      TIMESTAMP.test(headers.get('x-webhook-timestamp') ?? '') ? hexSignature(headers) : [],
    expected: (secret, { headers, body }) => [
      hmac(secret, `${headers.get('x-webhook-timestamp')}.`, body),
    ],
  },

  body: {
    sent: ({ headers }) => {
      const given = hexSignature(headers);
      return given.length > 0 ? given : pagerDutySignatures(headers);
    },
    expected: (secret, { body }) => [hmac(secret, '', body)],
  },

  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  standard: {
    timestampHeader: 'webhook-timestamp',
    sent: ({ headers }) => {
      const isComplete =
        STANDARD_ID.test(headers.get('webhook-id') ?? '') &&
        TIMESTAMP.test(headers.get('webhook-timestamp') ?? '');
      return isComplete ? standardSignatures(headers.get('webhook-signature') ?? '') : [];
    },
    expected: (secret, { headers, body }) => {
      const prefix = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.`;
      return standardKeys(secret).map((key) => hmac(key, prefix, body));
    },
  },

  token: {
    sent: ({ headers }) => {
      const token =
        headers.get('x-webhook-token') ??
        headers.get(CLOUDFLARE_TOKEN) ??
        BEARER.exec(headers.get('authorization') ?? '')?.[1];
      return hashes(token);
    },
    expected: (secret) => [sha256(Buffer.from(secret))],
  },

  /** https://www.rfc-editor.org/rfc/rfc7617. Compares the encoded form, because it is unique. */
  basic: {
    sent: ({ headers }) => hashes(BASIC.exec(headers.get('authorization') ?? '')?.[1]),
    expected: (secret, { source }) => [
      sha256(Buffer.from(Buffer.from(`${source}:${secret}`).toString('base64'))),
    ],
  },
};

/** Node reads each byte of a header as one character. Hashes have equal lengths, so the comparison time reveals nothing. */
const hashes = (text: string | undefined): Buffer[] =>
  text === undefined ? [] : [sha256(Buffer.from(text, 'latin1'))];

/** https://developer.pagerduty.com/docs/verifying-webhook-signatures: one signature for each secret, during a rotation. */
function pagerDutySignatures(headers: SignatureHeaders): Buffer[] {
  const given = headers.get('x-pagerduty-signature')?.split(',') ?? [];
  return given.flatMap((one) => {
    const hex = PAGERDUTY_SIGNATURE.exec(one)?.[1];
    return hex === undefined ? [] : [Buffer.from(hex, 'hex')];
  });
}

function hexSignature(headers: SignatureHeaders): Buffer[] {
  const given =
    headers.get('x-webhook-signature') ??
    headers.get('x-signature') ??
    headers.get('x-hub-signature-256') ??
    '';
  const hex = HEX_SIGNATURE.exec(given)?.[1];
  return hex === undefined ? [] : [Buffer.from(hex, 'hex')];
}

/** Parses `v1,<base64>`, or several such signatures with spaces between them. Ignores other versions. */
function standardSignatures(header: string): Buffer[] {
  const encoded = header.split(' ').flatMap((one) => STANDARD_SIGNATURE.exec(one)?.[1] ?? []);
  return encoded.map((text) => Buffer.from(text, 'base64'));
}

/** After the prefix, the secret is base64 of the key. Without the prefix, some senders use the text and others the decoded bytes. */
function standardKeys(secret: string): Buffer[] {
  const encoded = secret.replace(STANDARD_SECRET, '');
  const keys = encoded !== '' && BASE64.test(encoded) ? [Buffer.from(encoded, 'base64')] : [];
  return encoded === secret ? [Buffer.from(secret), ...keys] : keys;
}

function hmac(key: string | Buffer, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}

function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

function equal(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
