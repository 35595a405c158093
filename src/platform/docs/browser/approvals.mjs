import { openOperation } from './linked.mjs';
import { element, read, utc, whyUnread } from './page.mjs';

/* Lists the actions that wait for the approval of the user, with links to the operations that decide. */

const TYPES = '/api/actions/types';
const DECISIONS = { Approve: 'approveAction', Reject: 'rejectAction' };

const LONGEST = 120;
const LONGEST_REASON = 500;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Quotation marks of all languages and widths: with such a mark, a title could seem to end. */
const QUOTES = /["\u201c-\u201f\u2033\u2036\u301d-\u301f\uff02]/gu;

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
    const shown = await pending(levels, ui).catch((error) => [
      element('p', {}, ...whyUnread('They', error)),
    ]);
    content.replaceChildren(...shown);
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
  // Texts of strangers are last, each on its own line and in quotes, so that they do not look like facts.
  if (preview) what.append(element('div', {}, 'would touch: ', foreign(preview.message)));
  const { reason } = parameters;
  if (reason) what.append(quoted('reason', shortened(reason, LONGEST_REASON)));
  if (incident) what.append(quoted(incident.incident_number, incident.title));
  const decisions = Object.entries(DECISIONS).map(([words, operationId]) => {
    const link = element('a', { href: `#/Approvals/${operationId}` }, words);
    link.addEventListener('click', (event) => {
      event.preventDefault();
      openOperation(ui, operationId, id);
    });
    return link;
  });
  const links = element('span', { class: 'its-decisions' }, ...decisions);
  return element('li', { 'data-action': id }, what, links);
}

const quoted = (label, words) =>
  element('div', {}, `${label}: "`, foreign(words.replace(QUOTES, "'")), '"');

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

/** Required parameters come first and are complete; optional parameters are cut. The reason is shown separately. */
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

/** Isolates the text of a stranger: its direction affects no other text, and its border shows where it ends. */
const foreign = (text) => element('bdi', {}, visible(text));

/** Replaces each invisible character by a mark such as `⟦U+202E⟧`. */
export const visible = (text) =>
  text.replace(
    UNSEEN,
    (one) => `⟦U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟧`,
  );
