import { openOperation } from './operations.mjs';
import { element, read, utc, whyUnread } from './page.mjs';

/* What waits for the consent of the reader, above everything else. Each line leads to the operation that gives it. */

/** Which of the parameters an action cannot do without. */
const TYPES = '/api/actions/types';
const DECISIONS = [
  ['Approve', 'approveAction', '/api/actions/{id}/approve'],
  ['Reject', 'rejectAction', '/api/actions/{id}/reject'],
];

/** Of a value that may be cut. */
const LONGEST = 120;
const LONGEST_REASON = 500;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Also those of other languages and widths, with which a title could seem to have ended. */
const QUOTES = /["\u201c-\u201f\u2033\u2036\u301d-\u301f\uff02]/gu;

/** What waits at one of these levels. Who waits longest comes first. */
export const listOf = (levels) =>
  `/api/actions?status=pending_approval&approval_level=${levels}&sort=requested_at&per_page=20`;

/** Gives the function that reads them and shows them in `section`. Who may approve nothing is shown nothing. */
export function showApprovals(section, ui) {
  const { levels } = section.dataset;
  if (levels === '') return () => undefined;
  const title = element('h2', {}, 'Waiting for approval');
  const again = element('button', { type: 'button' }, 'Read again');
  const content = element('div', { 'aria-live': 'polite' });
  section.replaceChildren(element('div', { class: 'its-heading' }, title, again), content);
  const show = async () => {
    try {
      content.replaceChildren(...(await pending(levels, ui)));
    } catch (error) {
      content.replaceChildren(element('p', {}, ...whyUnread('They', error)));
    }
  };
  again.addEventListener('click', show);
  section.hidden = false;
  return show;
}

async function pending(levels, ui) {
  const { data, meta } = await read(listOf(levels));
  if (data.length === 0) return [element('p', {}, 'Nothing waits for you.')];
  const { data: types } = await read(TYPES);
  const more = meta.total - data.length;
  const list = element('ul', {}, ...data.map((action) => lineOf(action, types, ui)));
  return more > 0 ? [list, element('p', {}, `And ${more} more: List actions shows them.`)] : [list];
}

function lineOf(action, types, ui) {
  const { id, action_type, incident, parameters = {}, preview } = action;
  const facts = factsOf(action, types).flatMap(({ label, value }) => [
    ' · ',
    element('span', {}, `${label} `, foreign(value)),
  ]);
  const what = element('div', {}, element('strong', {}, action_type), ...facts);
  // What strangers write comes last, each in a line of its own and in quotes, so that it cannot pose as a fact.
  if (preview) what.append(element('div', {}, 'would touch: ', foreign(wouldTouch(preview))));
  if (parameters.reason)
    what.append(quoted('reason', shortened(parameters.reason, LONGEST_REASON)));
  if (incident) what.append(quoted(incident.incident_number, incident.title));
  const decisions = DECISIONS.map((to) => linkTo(to, id, ui));
  return element(
    'li',
    { 'data-action': id },
    what,
    element('span', { class: 'its-decisions' }, ...decisions),
  );
}

/** What the connector found that the action would change, with the number of mails where it is known. */
export const wouldTouch = ({ count, message }) =>
  [count !== undefined && (count === 1 ? '1 mail' : `${count} mails`), message]
    .filter((part) => part !== false)
    .join(' · ');

const quoted = (label, words) =>
  element('div', {}, `${label}: "`, foreign(words.replace(QUOTES, "'")), '"');

/** What there is to know before one consents, with what it is to be done to first. */
export function factsOf(action, types) {
  const { approval_level, requested_by, expires_at, incident } = action;
  const facts = [
    ...targetsOf(action, types),
    { label: 'requested by', value: requested_by },
    approval_level && { label: 'needs', value: approval_level },
    incident && { label: 'severity', value: incident.severity },
    expires_at && { label: 'until', value: utc(expires_at) },
  ];
  return facts.filter(Boolean);
}

/** The parameters without the words: first those that have to be there, whole; then the others, each cut by itself. */
function targetsOf({ action_type, parameters = {} }, types) {
  const known = types.find(({ name }) => name === action_type)?.parameters ?? [];
  const mayBeCut = (name) => known.some((one) => one.name === name && !one.required);
  return Object.entries(parameters)
    .filter(([name]) => name !== 'reason')
    .map(([name, value]) => {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      return { label: name, value: mayBeCut(name) ? shortened(text) : text };
    })
    .sort((one, other) => mayBeCut(one.label) - mayBeCut(other.label));
}

const shortened = (text, most = LONGEST) => (text.length > most ? `${text.slice(0, most)}…` : text);

/** What others wrote turns no direction but its own, and its place shows where it ends. */
const foreign = (text) => element('bdi', {}, visible(text));

/** With a mark such as `⟦U+202E⟧` for what would not be seen. */
export const visible = (text) =>
  text.replace(
    UNSEEN,
    (one) => `⟦U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );

function linkTo([words, operationId, path], id, ui) {
  const link = element('a', { href: `#/Approvals/${operationId}` }, words);
  link.addEventListener('click', (event) => {
    event.preventDefault();
    openOperation(ui, ['operations', 'Approvals', operationId], [path, 'post'], id);
  });
  return link;
}
