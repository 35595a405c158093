/* Opens operations of Swagger UI, and the targets of links in messages, such as `/docs?action=act-…`. */

export async function openOperation(ui, operationId, id) {
  const { layoutActions, specActions, specSelectors, oas3Actions } = ui;
  const isWanted = (one) => one.getIn(['operation', 'operationId']) === operationId;
  const wanted = specSelectors.operations().find(isWanted);
  const tag = wanted.getIn(['operation', 'tags', 0]);
  const operation = [wanted.get('path'), wanted.get('method')];
  const place = ['operations', tag, operationId];
  specActions.clearResponse(...operation);
  specActions.clearRequest(...operation);
  oas3Actions.clearRequestBodyValue({ pathMethod: operation });
  layoutActions.updateFilter('');
  layoutActions.show(place.slice(0, 2), true);
  layoutActions.show(place, true);
  specActions.changeParam(operation, 'id', 'path', id, false);
  const block = await drawn(() => document.getElementById(place.join('-')));
  block?.scrollIntoView({ block: 'start' });
  block?.querySelector('button')?.focus({ preventScroll: true });
  return block;
}

const TRIES = 50;
const BETWEEN_MS = 100;

async function drawn(find) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
    const found = find();
    if (found) return found;
  }
  return undefined;
}

const READS = {
  incident: 'getIncident',
  action: 'getAction',
  connector: 'getConnector',
  notification_channel: 'getNotificationChannel',
  webhook_event: 'getWebhookEvent',
};
const ID = /^[\w-]{1,100}$/;

/** Marks a waiting action, or reads any other target. Reading changes nothing, so anybody may make the link. */
export async function showLinked(search, ui) {
  const query = new URLSearchParams(search);
  const kind = Object.keys(READS).find((name) => ID.test(query.get(name) ?? ''));
  const id = query.get(kind);
  if (!kind || (kind === 'action' && markWaiting(id))) return;
  const block = await openOperation(ui, READS[kind], id);
  const button = block && (await drawn(() => block.querySelector('button.execute')));
  if (!button) return;
  button.click();
  // Scrolls to the response, which is below the parameters, the description and the command. These fill the screen.
  const answer = await drawn(() => block.querySelector('.live-responses-table'));
  answer?.scrollIntoView({ block: 'start' });
}

function markWaiting(id) {
  const lines = [...document.querySelectorAll('#approvals li')];
  const line = lines.find(({ dataset }) => dataset.action === id);
  if (!line) return false;
  line.setAttribute('aria-current', 'true');
  line.scrollIntoView({ block: 'center' });
  line.querySelector('a')?.focus({ preventScroll: true });
  return true;
}
