import { element } from './approvals.mjs';

/* While the kill switch is on nothing that one asks for here happens, and whoever comes to the shift has to see why. */

/** Shows in `band` that it is on, and gives the function that reads it again. */
export function showKillSwitch(band) {
  const read = async () => {
    const words = await wordsOfSwitch();
    band.replaceChildren(...words);
    band.hidden = words.length === 0;
  };
  void read();
  return read;
}

async function wordsOfSwitch() {
  try {
    const answer = await fetch('/api/kill-switch', { headers: { accept: 'application/json' } });
    const { data, error } = await answer.json();
    if (!answer.ok) throw new Error(error?.message ?? `${answer.status}`);
    return data.active ? [element('strong', {}, 'The kill switch is on'), factsOf(data)] : [];
  } catch (error) {
    return [`Whether the kill switch is on could not be read: ${error.message}`];
  }
}

function factsOf({ reason, activated_by, activated_at }) {
  const facts = [
    activated_by && `activated by ${activated_by}`,
    activated_at && `since ${new Date(activated_at).toLocaleString()}`,
    reason,
  ];
  return ` · ${facts.filter(Boolean).join(' · ')}`;
}
