import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { ReceivingSecret, SignatureScheme } from '../sources/webhook-source.entity.js';

/** Headers of a request by their names in lower case. */
type SignatureHeaders = ReadonlyMap<string, string>;

/**
 * Reads the headers as sent. A header that occurs twice becomes empty, which is invalid in each scheme: Node would join both or take the
 * first, and a proxy may have checked the other.
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

/** In both directions. A captured message can be replayed during this time. */
export const TOLERANCE_SECONDS = 300;

export type SignatureProblem = 'invalid_signature' | 'timestamp_expired';

interface SignedMessage {
  /** Name of the source, which is the user name of Basic authentication. */
  readonly source: string;
  readonly headers: SignatureHeaders;
  readonly body: Buffer;
}

interface Verifier {
  /** In schemes that sign the time. */
  readonly timestampHeader?: string;
  readonly verifies: (message: SignedMessage, secrets: readonly string[]) => boolean;
}

/**
 * Returns the problem of the signature, or `undefined` if it is valid. The time is checked last, so that only a sender that knows the
 * secret learns that its clock is wrong.
 */
export function signatureProblem(
  scheme: SignatureScheme,
  secrets: readonly ReceivingSecret[],
  message: SignedMessage,
  now: Date,
): SignatureProblem | undefined {
  const { timestampHeader, verifies } = VERIFIERS[scheme];
  const valid = secrets.flatMap(({ value, until }) => (!until || until > now ? value : []));
  if (!verifies(message, valid)) return 'invalid_signature';
  if (timestampHeader === undefined) return undefined;
  const seconds = Number(message.headers.get(timestampHeader));
  const off = Math.abs(Math.floor(now.getTime() / 1000) - seconds);
  return off <= TOLERANCE_SECONDS ? undefined : 'timestamp_expired';
}

/**
 * Identifies a message that may have been captured and is replayed, by time and content. `undefined` for schemes that do not sign the time,
 * because their senders may repeat messages.
 */
export function messageName(scheme: SignatureScheme, message: SignedMessage): string | undefined {
  const { timestampHeader } = VERIFIERS[scheme];
  if (timestampHeader === undefined) return undefined;
  const time = message.headers.get(timestampHeader) ?? '';
  return `${time} ${hash('sha256', message.body, 'base64url')}`;
}

const TIMESTAMP = /^\d{1,15}$/;
const HEX_SIGNATURE = /^(?:sha256=)?([0-9a-f]{64})$/i;
const STANDARD_ID = /^[\x21-\x7e]{1,256}$/;
const STANDARD_SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
const STANDARD_SECRET = /^whsec_/;
/** With or without padding. */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const BEARER = /^bearer +(.+)$/i;
const BASIC = /^basic +(.+)$/i;
const PAGERDUTY_SIGNATURE = /^ *v1=([0-9a-f]{64}) *$/i;
/** Senders have fewer secrets. */
const MOST_SIGNATURES = 10;

const VERIFIERS: Readonly<Record<SignatureScheme, Verifier>> = {
  timestamped: {
    timestampHeader: 'x-webhook-timestamp',
    verifies: ({ headers, body }, secrets) => {
      const timestamp = headers.get('x-webhook-timestamp') ?? '';
      const sent = hexSignature(headers);
      if (!sent || !TIMESTAMP.test(timestamp)) return false;
      return secrets.some((secret) => equal(sent, hmac(secret, `${timestamp}.`, body)));
    },
  },

  body: {
    verifies: ({ headers, body }, secrets) => {
      const given = hexSignature(headers);
      const sent = given ? [given] : pagerDutySignatures(headers);
      if (sent.length === 0) return false;
      return secrets.some((secret) => {
        const digest = hmac(secret, '', body);
        return sent.some((one) => equal(one, digest));
      });
    },
  },

  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  standard: {
    timestampHeader: 'webhook-timestamp',
    verifies: ({ headers, body }, secrets) => {
      const id = headers.get('webhook-id') ?? '';
      const timestamp = headers.get('webhook-timestamp') ?? '';
      const sent = standardSignatures(headers.get('webhook-signature') ?? '');
      if (sent.length === 0 || !STANDARD_ID.test(id) || !TIMESTAMP.test(timestamp)) return false;
      return secrets.flatMap(standardKeys).some((key) => {
        const digest = hmac(key, `${id}.${timestamp}.`, body).toString('base64');
        return sent.some((one) => equal(Buffer.from(one), Buffer.from(digest)));
      });
    },
  },

  token: {
    verifies: ({ headers }, secrets) => {
      const token =
        headers.get('x-webhook-token') ??
        headers.get(CLOUDFLARE_TOKEN) ??
        BEARER.exec(headers.get('authorization') ?? '')?.[1];
      if (token === undefined) return false;
      // Node reads each byte of a header as one character. Hashes have equal lengths, so the time of the comparison reveals nothing.
      const sent = sha256(Buffer.from(token, 'latin1'));
      return secrets.some((secret) => equal(sent, sha256(Buffer.from(secret))));
    },
  },

  /** https://www.rfc-editor.org/rfc/rfc7617. The encoded form is compared, because it is unique. */
  basic: {
    verifies: ({ headers, source }, secrets) => {
      const given = BASIC.exec(headers.get('authorization') ?? '')?.[1];
      if (given === undefined) return false;
      const sent = sha256(Buffer.from(given, 'latin1'));
      return secrets.some((secret) =>
        equal(sent, sha256(Buffer.from(Buffer.from(`${source}:${secret}`).toString('base64')))),
      );
    },
  },
};

/** https://developer.pagerduty.com/docs/verifying-webhook-signatures: one signature for each secret, during a rotation. */
function pagerDutySignatures(headers: SignatureHeaders): Buffer[] {
  const given = headers.get('x-pagerduty-signature')?.split(',', MOST_SIGNATURES) ?? [];
  return given.flatMap((one) => {
    const hex = PAGERDUTY_SIGNATURE.exec(one)?.[1];
    return hex === undefined ? [] : [Buffer.from(hex, 'hex')];
  });
}

/** Only the first header that exists counts. */
function hexSignature(headers: SignatureHeaders): Buffer | undefined {
  const given =
    headers.get('x-webhook-signature') ??
    headers.get('x-signature') ??
    headers.get('x-hub-signature-256') ??
    '';
  const hex = HEX_SIGNATURE.exec(given)?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/** `v1,<base64>`, several separated by spaces. Other versions are ignored. */
function standardSignatures(header: string): string[] {
  return header.split(' ').flatMap((one) => STANDARD_SIGNATURE.exec(one)?.[1] ?? []);
}

/** After the prefix, base64 of the key. Without the prefix, some senders use the text and others the decoded bytes. */
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
