import type { Settings } from '../../platform/config/settings.js';
import type { NamedLimit } from '../../platform/limits/limited.js';
import type { WebhookSource } from '../sources/webhook-source.js';

/** Limit of the events of one source. The guard charges the first event of a body, before it reads the body. */
export function webhookLimit({ rateLimitWebhook }: Settings): NamedLimit {
  return { name: 'webhook', perMinute: rateLimitWebhook };
}

export function keyOfSource({ source }: Pick<WebhookSource, 'source'>): string {
  return `source ${source}`;
}
