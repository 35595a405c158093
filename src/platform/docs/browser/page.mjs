/* What the parts of the page share. */

/** Answers the body of what was read; an error has the status, too. */
export async function read(address) {
  const answer = await fetch(address, { headers: { accept: 'application/json' } });
  const { error, ...body } = await answer.json();
  if (!answer.ok) {
    const reason = new Error(error?.message ?? `${answer.status}`);
    throw Object.assign(reason, { status: answer.status });
  }
  return body;
}

/** Why something was not read: whoever has to log in again is led there, and back. */
export function whyUnread(what, { status, message }) {
  if (status !== 401) return [`${what} could not be read: ${message}`];
  const login = element('a', { href: '/login?next=/docs' }, 'Log in again');
  return ['Your session has ended. ', login];
}

/** A time as the API and the messages show it, such as `2026-01-31 09:30 UTC`. */
export const utc = (time) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Text goes in as text: what it says comes from outside. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
