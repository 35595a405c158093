/* Shared functions of the page, and the band of the kill switch. */

/** Returns the body of a response. An error has the status. */
export async function read(address) {
  const answer = await fetch(address, { headers: { accept: 'application/json' } });
  const { error, ...body } = await answer.json();
  if (answer.ok) return body;
  throw Object.assign(new Error(error?.message ?? `${answer.status}`), { status: answer.status });
}

/** Describes why `what` could not be read, with a link to the login if the session has ended. */
export function whyUnread(what, { status, message }) {
  if (status !== 401) return [`${what} could not be read: ${message}`];
  const login = element('a', { href: '/login?next=/docs' }, 'Log in again');
  return ['Your session has ended. ', login];
}

/** Returns a time as in messages, such as `2026-01-31 09:30 UTC`. */
export const utc = (time) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Creates an element. Strings become text, never markup, because strangers wrote some of them. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Shows in `band` that the kill switch is active, and why. */
export async function showKillSwitch(band) {
  const words = await killSwitchWords();
  band.replaceChildren(...words);
  band.hidden = words.length === 0;
}

async function killSwitchWords() {
  try {
    const { active, activated_by, activated_at, reason } = (await read('/api/kill-switch')).data;
    if (!active) return [];
    const by = activated_by && `activated by ${activated_by}`;
    const facts = [by, activated_at && `since ${utc(activated_at)}`, reason].filter(Boolean);
    return [element('strong', {}, 'The kill switch is on'), ` · ${facts.join(' · ')}`];
  } catch (error) {
    return whyUnread('Whether the kill switch is on', error);
  }
}
