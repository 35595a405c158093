import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { presentTime } from '../../platform/clock.js';
import { problemAt } from '../../targets/target-check.js';
import { address, fields, optional, text } from '../../targets/target-config.js';
import { defineChannel, postJson } from '../channel-type.js';
import { NOTIFIED_EVENTS } from '../notification.js';

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
const PREFIX = 'whsec_';
const NEW_SECRET_BYTES = 32;
const MIN_BYTES = 24;
const MAX_BYTES = 64;

export const webhook = defineChannel({
  name: 'webhook',
  audience: 'programs',
  description:
    'Any service that accepts webhooks: each event as JSON, signed according to Standard Webhooks.',
  config: fields({
    url: address(
      'URL that receives the events. Admins can read it, so its query must not contain a secret.',
      { format: 'uri-with-query' },
    ),
    secret: optional(
      text(
        'whsec_ and the base64 of 24 to 64 random bytes. If absent, the service generates a secret and returns it once.',
        { maxLength: 200, writeOnly: true },
      ),
    ),
  }),
  signsOnly: true,
  newSecret,
  defaultEvents: NOTIFIED_EVENTS,
  problems({ secret }) {
    if (secret === undefined) return [problemAt('config.secret', 'required', 'is required')];
    const problem = secretProblem(secret);
    return problem ? [problemAt('config.secret', 'matches', problem)] : [];
  },
  send({ config: { url, secret }, formerSecret, message, signal, http }) {
    const body = JSON.stringify(message.event);
    const secrets = [secret, formerSecret].filter((one) => one !== undefined);
    const at = new Date(presentTime());
    const headers = signatureHeaders(body, { id: message.event.id, at, secrets });
    return postJson({ http, signal, url, headers, body, withoutBody: true });
  },
});

export function newSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_BYTES).toString('base64');
}

export function secretProblem(secret: string): string | undefined {
  const encoded = secret.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  const isExact = secret.startsWith(PREFIX) && bytes.toString('base64') === encoded;
  if (isExact && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES) return undefined;
  return `must be ${PREFIX} and the base64 of ${MIN_BYTES} to ${MAX_BYTES} random bytes`;
}

interface Signature {
  readonly id: string;
  readonly at: Date;
  readonly secrets: readonly string[];
}

export function signatureHeaders(body: string, { id, at, secrets }: Signature) {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    // With a Buffer instead of a KeyObject, Node.js needs three times as long.
    const key = createSecretKey(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
