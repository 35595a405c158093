import { drawn, openOperation } from './operations.mjs';

/*
 * What a message links to: `/docs?action=act-…`. Whoever is to decide about an action is led to it among what waits; everything
 * else is read at once, which changes nothing, whoever made the link.
 */

const READS = {
  incident: ['Incidents', 'getIncident', '/api/incidents/{id}'],
  action: ['Actions', 'getAction', '/api/actions/{id}'],
  connector: ['Connectors', 'getConnector', '/api/connectors/{id}'],
  notification_channel: [
    'Notifications',
    'getNotificationChannel',
    '/api/notification-channels/{id}',
  ],
  webhook_event: ['Webhooks', 'getWebhookEvent', '/api/webhook-events/{id}'],
};
const ID = /^[\w-]{1,100}$/;

/** Of the query of the page the kind and the id; undefined where it links to nothing. */
export function linkedIn(search) {
  const query = new URLSearchParams(search);
  const kind = Object.keys(READS).find((name) => ID.test(query.get(name) ?? ''));
  return kind && { kind, id: query.get(kind) };
}

export async function showLinked({ kind, id }, ui) {
  if (kind === 'action' && markWaiting(id)) return;
  const [tag, operationId, path] = READS[kind];
  const block = await openOperation(ui, ['operations', tag, operationId], [path, 'get'], id);
  const button = block && (await drawn(() => block.querySelector('button.execute')));
  if (!button) return;
  button.click();
  // The parameters, the description and the command fill the screen: without this the answer is below it.
  const answer = await drawn(() => block.querySelector('.live-responses-table'));
  answer?.scrollIntoView({ block: 'start' });
}

/** Whether it is among what waits for the reader. */
function markWaiting(id) {
  const lines = [...document.querySelectorAll('#approvals li')];
  const line = lines.find(({ dataset }) => dataset.action === id);
  if (!line) return false;
  line.setAttribute('aria-current', 'true');
  line.scrollIntoView({ block: 'center' });
  line.querySelector('a')?.focus({ preventScroll: true });
  return true;
}
