import { element, read, utc, whyUnread } from './page.mjs';

/* While the kill switch is on nothing that one asks for here happens, and whoever comes to the shift has to see why. */

/** Shows in `band` that it is on, and gives the function that reads it again. */
export function showKillSwitch(band) {
  const show = async () => {
    const words = await wordsOfSwitch();
    band.replaceChildren(...words);
    band.hidden = words.length === 0;
  };
  void show();
  return show;
}

async function wordsOfSwitch() {
  try {
    const { data } = await read('/api/kill-switch');
    return data.active ? [element('strong', {}, 'The kill switch is on'), factsOf(data)] : [];
  } catch (error) {
    return whyUnread('Whether the kill switch is on', error);
  }
}

function factsOf({ reason, activated_by, activated_at }) {
  const facts = [
    activated_by && `activated by ${activated_by}`,
    activated_at && `since ${utc(activated_at)}`,
    reason,
  ];
  return ` · ${facts.filter(Boolean).join(' · ')}`;
}
