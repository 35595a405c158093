import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { ReceivingSecret, SignatureScheme } from '../sources/webhook-source.js';

/** The headers of a request by their names in small letters. */
type SignatureHeaders = ReadonlyMap<string, string>;

/**
 * Reads them as they were sent. Node would join headers of one name with a comma, or take the first: a proxy in front
 * may have judged another. One that was given twice is empty here, which no scheme takes for valid.
 */
export function signatureHeaders(rawHeaders: readonly string[]): SignatureHeaders {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    headers.set(name, headers.has(name) ? '' : rawHeaders[index + 1]!);
  }
  return headers;
}

/** Cloudflare sends the secret in this header and can send no other. */
const CLOUDFLARE_TOKEN = 'cf-webhook-auth';

/** Either way: clocks differ, and a signature that is valid for longer could be sent again for longer. */
export const TOLERANCE_SECONDS = 300;

export type SignatureProblem = 'invalid_signature' | 'timestamp_expired';

/** What a sender signed, and how it says so. */
interface SignedMessage {
  /** The source that it is for, which is the user name where a sender needs one. */
  readonly source: string;
  readonly headers: SignatureHeaders;
  /** The bytes as they came. */
  readonly body: Buffer;
}

interface Verifier {
  /** Of the schemes that sign the time, too. */
  readonly timestampHeader?: string;
  /** Any of the secrets will do. */
  readonly verifies: (message: SignedMessage, secrets: readonly string[]) => boolean;
}

/**
 * What is wrong with the signature; undefined when it is valid. The time is looked at last, so that only who knows the
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
 * By what a message is known that somebody else may have caught and sends again: its time and its content. Undefined for
 * schemes that sign no time, where senders repeat themselves without meaning harm.
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
/** With or without the padding at its end. */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const BEARER = /^bearer +(.+)$/i;
const BASIC = /^basic +(.+)$/i;
const PAGERDUTY_SIGNATURE = /^ *v1=([0-9a-f]{64}) *$/i;
/** More secrets than any sender has at once. */
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
        bearer(headers.get('authorization'));
      if (token === undefined) return false;
      // Node gives each byte of a header as one character. Hashes have one length, so that their comparison tells nothing.
      const sent = sha256(Buffer.from(token, 'latin1'));
      return secrets.some((secret) => equal(sent, sha256(Buffer.from(secret))));
    },
  },

  /** https://www.rfc-editor.org/rfc/rfc7617: compared as it is encoded, which has one form. */
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

/** https://developer.pagerduty.com/docs/verifying-webhook-signatures: one for each secret, while a secret is changed. */
function pagerDutySignatures(headers: SignatureHeaders): Buffer[] {
  const given = headers.get('x-pagerduty-signature')?.split(',', MOST_SIGNATURES) ?? [];
  return given.flatMap((one) => {
    const hex = PAGERDUTY_SIGNATURE.exec(one)?.[1];
    return hex === undefined ? [] : [Buffer.from(hex, 'hex')];
  });
}

/** The first of the headers that is there counts, whatever the others say. */
function hexSignature(headers: SignatureHeaders): Buffer | undefined {
  const given =
    headers.get('x-webhook-signature') ??
    headers.get('x-signature') ??
    headers.get('x-hub-signature-256') ??
    '';
  const hex = HEX_SIGNATURE.exec(given)?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/** `v1,<base64>`, several separated by spaces; other versions are for those who know them. */
function standardSignatures(header: string): string[] {
  return header.split(' ').flatMap((one) => STANDARD_SIGNATURE.exec(one)?.[1] ?? []);
}

/** With the prefix, base64 of the key. Without it senders disagree: some take the text, others what it decodes to. */
function standardKeys(secret: string): Buffer[] {
  const encoded = secret.replace(STANDARD_SECRET, '');
  const keys = encoded !== '' && BASE64.test(encoded) ? [Buffer.from(encoded, 'base64')] : [];
  return encoded === secret ? [Buffer.from(secret), ...keys] : keys;
}

function bearer(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
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
