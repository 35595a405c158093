/* What waits for the consent of somebody, above everything else. Each line leads to the operation that gives it. */

const LIST = '/api/actions?status=pending_approval&per_page=20';
const DECISIONS = [
  ['Approve', 'approveAction', '/api/actions/{id}/approve'],
  ['Reject', 'rejectAction', '/api/actions/{id}/reject'],
];

/** Shows them in `section`, and gives the function that reads them again. */
export function showApprovals(section, ui) {
  const title = element('h2', {}, 'Waiting for approval');
  const again = element('button', { type: 'button' }, 'Read again');
  const content = element('div', { 'aria-live': 'polite' });
  section.replaceChildren(element('div', { class: 'its-heading' }, title, again), content);
  const read = async () => {
    try {
      content.replaceChildren(...(await pending(ui)));
    } catch (error) {
      content.replaceChildren(element('p', {}, `They could not be read: ${error.message}`));
    }
  };
  again.addEventListener('click', read);
  section.hidden = false;
  void read();
  return read;
}

async function pending(ui) {
  const answer = await fetch(LIST, { headers: { accept: 'application/json' } });
  const { data, meta, error } = await answer.json();
  if (!answer.ok) throw new Error(error?.message ?? `${answer.status}`);
  if (data.length === 0) return [element('p', {}, 'Nothing waits.')];
  const more = meta.total - data.length;
  const list = element('ul', {}, ...data.map((action) => lineOf(action, ui)));
  return more > 0 ? [list, element('p', {}, `And ${more} more: List actions shows them.`)] : [list];
}

function lineOf(action, ui) {
  const { id, action_type, approval_level, requested_by, incident, expires_at } = action;
  const facts = [
    incident && `${incident.incident_number}: ${incident.title}`,
    targetOf(action.parameters),
    `requested by ${requested_by}`,
    approval_level && `needs ${approval_level}`,
    expires_at && `until ${new Date(expires_at).toLocaleString()}`,
  ];
  return element(
    'li',
    {},
    element(
      'span',
      {},
      element('strong', {}, action_type),
      ` ${facts.filter(Boolean).join(' · ')}`,
    ),
    element('span', { class: 'its-decisions' }, ...DECISIONS.map((to) => linkTo(to, id, ui))),
  );
}

/** What it is to be done to: the parameters without the words. */
function targetOf(parameters = {}) {
  const { reason: _reason, ...target } = parameters;
  const text = Object.entries(target)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

function linkTo([words, operationId, path], id, ui) {
  const link = element('a', { href: `#/Approvals/${operationId}` }, words);
  link.addEventListener('click', (event) => {
    event.preventDefault();
    openOperation(ui, ['operations', 'Approvals', operationId], [path, 'post'], id);
  });
  return link;
}

/** Opens an operation with the id in its box. */
function openOperation({ layoutActions, specActions }, place, operation, id) {
  layoutActions.updateFilter('');
  layoutActions.show(place.slice(0, 2), true);
  layoutActions.show(place, true);
  specActions.changeParam(operation, 'id', 'path', id, false);
  const block = () => document.getElementById(place.join('-'));
  // The block is drawn when the page gets round to it.
  setTimeout(() => {
    block()?.scrollIntoView({ block: 'start' });
    block()?.querySelector('button')?.focus({ preventScroll: true });
  }, 100);
}

/** Text goes in as text: what it says comes from outside. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
