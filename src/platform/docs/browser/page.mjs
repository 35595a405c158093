export async function read(address) {
  const answer = await fetch(address, { headers: { accept: 'application/json' } });
  const { error, ...body } = await answer.json();
  if (answer.ok) return body;
  throw Object.assign(new Error(error?.message ?? `${answer.status}`), { status: answer.status });
}

export function whyUnread(what, { status, message }) {
  if (status !== 401) return [`${what} could not be read: ${message}`];
  const login = element('a', { href: '/login?next=/docs' }, 'Log in again');
  return ['Your session has ended. ', login];
}

export const utc = (time) => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Creates an element. Strings become text, never markup, because strangers wrote some of them. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

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
