import { openOperation } from './linked.mjs';

/* Lists the actions that wait for the approval of the user, with links to the operations that decide. */

const DECISIONS = { Approve: 'approveAction', Reject: 'rejectAction' };
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

export const listOf = (levels) =>
  `/api/actions?status=pending_approval&approval_level=${levels}&sort=requested_at&per_page=20`;

/** Returns a function that shows the waiting actions in `section`, or nothing to users who cannot approve any. */
export function showApprovals(section, ui) {
  const { levels } = section.dataset;
  if (levels === '') return () => undefined;
  const title = element('h2', {}, 'Waiting for approval');
  const again = element('button', { type: 'button' }, 'Read again');
  const content = element('div', { 'aria-live': 'polite' });
  section.replaceChildren(element('div', { class: 'its-heading' }, title, again), content);
  const show = async () => {
    const shown = await pending(levels, ui).catch(({ message }) => [
      element('p', {}, `They could not be read: ${message}`),
    ]);
    content.replaceChildren(...shown);
  };
  again.addEventListener('click', show);
  section.hidden = false;
  return show;
}

async function pending(levels, ui) {
  const answer = await fetch(listOf(levels));
  const { data, meta, error } = await answer.json();
  if (answer.status === 401) {
    const login = element('a', { href: '/login?next=/docs' }, 'Log in again');
    return [element('p', {}, 'Your session has ended. ', login)];
  }
  if (!answer.ok) throw new Error(error.message);
  if (data.length === 0) return [element('p', {}, 'Nothing waits for you.')];
  const more = meta.total - data.length;
  const list = element('ul', {}, ...data.map((action) => itemOf(action, ui)));
  return more > 0 ? [list, element('p', {}, `And ${more} more: List actions shows them.`)] : [list];
}

function itemOf(action, ui) {
  const { id, action_type } = action;
  const facts = factsOf(action).map(([label, value]) =>
    // Isolates the text of a stranger: its direction affects no other text, and its border shows where it ends.
    element('div', {}, `${label}: `, element('bdi', {}, visible(value))),
  );
  const decisions = Object.entries(DECISIONS).map(([words, operationId]) => {
    const link = element('a', { href: `#/Approvals/${operationId}` }, words);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      openOperation(ui, operationId, id);
    });
    return link;
  });
  return element(
    'li',
    { 'data-action': id },
    element('div', {}, element('strong', {}, action_type), ...facts),
    element('span', { class: 'its-decisions' }, ...decisions),
  );
}

/** Returns a line for each fact. The words of strangers come last, so that a long text hides no other fact. */
export function factsOf({ parameters = {}, preview, incident, ...action }) {
  const { reason, ...target } = parameters;
  const facts = [
    ['requested by', action.requested_by],
    ['needs', action.approval_level],
    ['severity', incident?.severity],
    ['until', action.expires_at && utc(action.expires_at)],
    ...Object.entries(target).map(([name, value]) => [name, textOf(value)]),
    ['would touch', preview?.message],
    ['reason', reason],
    [incident?.incident_number, incident?.title],
  ];
  return facts.filter(([, value]) => value);
}

const textOf = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** Replaces each invisible character by a mark such as `⟦U+202E⟧`. */
export const visible = (text) =>
  text.replace(
    UNSEEN,
    (one) => `⟦U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );

const utc = (time) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Creates an element. Strings become text, never markup, because strangers wrote some of them. */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
