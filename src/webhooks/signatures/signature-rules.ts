import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { ReceivingSecret, SignatureScheme } from '../sources/webhook-source.entity.js';

type SignatureHeaders = ReadonlyMap<string, string>;

/** A duplicate header becomes an empty text, which every scheme rejects: a proxy may have checked the other value. */
export function signatureHeaders(rawHeaders: readonly string[]): SignatureHeaders {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    headers.set(name, headers.has(name) ? '' : rawHeaders[index + 1]!);
  }
  return headers;
}

const TOLERANCE_SECONDS = 300;

export type SignatureProblem = 'invalid_signature' | 'timestamp_expired';

export interface SignedMessage {
  /** Name of the source, which is also the user name of Basic authentication. */
  readonly source: string;
  readonly headers: SignatureHeaders;
  readonly body: Buffer;
}

/** How a scheme signs. A message is valid if one of its `sent` texts equals one of the `expected` texts of a secret. */
interface Scheme {
  /** Header with the signed time. Absent if the scheme does not sign a time. */
  readonly timestampHeader?: string;
  readonly sent: (headers: SignatureHeaders) => readonly (string | undefined)[];
  readonly expected: (secret: string, message: SignedMessage) => readonly string[];
}

/** Checks the time last, so that only a sender who knows the secret learns that its clock is wrong. */
export function signatureProblem(
  scheme: SignatureScheme,
  secrets: readonly ReceivingSecret[],
  message: SignedMessage,
  now: Date,
): SignatureProblem | undefined {
  const { timestampHeader = '', sent, expected } = SCHEMES[scheme];
  const texts = sent(message.headers).filter((text) => text !== undefined);
  // Node reads each byte of a header as one character.
  const digests = texts.map((text) => sha256(Buffer.from(text, 'latin1')));
  const isSigned = secrets
    .filter(({ until }) => !until || until > now)
    .flatMap(({ value }) => expected(value, message))
    .map((text) => sha256(Buffer.from(text)))
    .some((digest) => digests.some((one) => timingSafeEqual(one, digest)));
  const time = message.headers.get(timestampHeader) ?? '';
  if (!isSigned || (timestampHeader && !TIMESTAMP.test(time))) return 'invalid_signature';
  if (!timestampHeader) return undefined;
  const off = Math.abs(Math.floor(now.getTime() / 1000) - Number(time));
  return off <= TOLERANCE_SECONDS ? undefined : 'timestamp_expired';
}

const TIMESTAMP = /^\d{1,15}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export const SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  timestamped: {
    timestampHeader: 'x-webhook-timestamp',
    sent: (headers) => [hexSignature(headers)],
    expected: (secret, { headers, body }) => [
      hmac(secret, `${headers.get('x-webhook-timestamp')}.`, body).toString('hex'),
    ],
  },

  body: {
    // PagerDuty signs with each valid secret: https://developer.pagerduty.com/docs/verifying-webhook-signatures
    sent: (headers) => [
      hexSignature(headers),
      ...(headers.get('x-pagerduty-signature') ?? '')
        .toLowerCase()
        .split(',')
        .map((one) => /^v1=(.*)$/.exec(one.trim())?.[1]),
    ],
    expected: (secret, { body }) => [hmac(secret, '', body).toString('hex')],
  },

  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  standard: {
    timestampHeader: 'webhook-timestamp',
    sent: (headers) =>
      (headers.get('webhook-signature') ?? '').split(' ').map((one) => /^v1,(.*)$/.exec(one)?.[1]),
    expected: (secret, { headers, body }) => {
      const prefix = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.`;
      return standardKeys(secret).map((key) => hmac(key, prefix, body).toString('base64'));
    },
  },

  token: {
    sent: (headers) => [
      headers.get('x-webhook-token') ??
        // Cloudflare can send the secret only in this header.
        headers.get('cf-webhook-auth') ??
        /^bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1],
    ],
    expected: (secret) => [secret],
  },

  /** https://www.rfc-editor.org/rfc/rfc7617. Compares the encoded form, because credentials have only one encoding. */
  basic: {
    sent: (headers) => [/^basic +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1]],
    expected: (secret, { source }) => [Buffer.from(`${source}:${secret}`).toString('base64')],
  },
};

function hexSignature(headers: SignatureHeaders): string | undefined {
  const given =
    headers.get('x-webhook-signature') ??
    headers.get('x-signature') ??
    headers.get('x-hub-signature-256');
  return given?.toLowerCase().replace(/^sha256=/, '');
}

/** The prefix marks base64 of the key. Without it, some senders use the text as the key, others the decoded bytes. */
function standardKeys(secret: string): (string | Buffer)[] {
  const encoded = secret.replace(/^whsec_/, '');
  const keys = encoded !== '' && BASE64.test(encoded) ? [Buffer.from(encoded, 'base64')] : [];
  return encoded === secret ? [secret, ...keys] : keys;
}

function hmac(key: string | Buffer, prefix: string, body: Buffer): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest();
}

const sha256 = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');
