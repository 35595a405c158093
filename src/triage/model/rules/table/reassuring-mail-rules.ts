import { vouched } from '../authentication.js';
import { isFromInside, linkedHosts, registered, senderDomains } from '../hosts.js';
import { nothingAsked } from '../calm-mail.js';
import { anyOf, byTools, byToolsAtLeast, type Look, type Rule, keys } from '../rule.js';

const REASSURING = { group: 'reassuring', category: 'legitimate' } as const;
const YES = /^(?:true|yes)$/i;
const NO = /^(?:false|no|0)$/i;

const senderProven: Look = {
  at: 'DMARC passed, said by the gateway and not in the headers of the mail',
  find: (facts) => vouched(facts, 'dmarc'),
};

const fromInside: Look = {
  at: 'a proven sender of the domain of all mailboxes that the tool names',
  find: (facts) => (isFromInside(facts) ? vouched(facts, 'dmarc') : []),
};
const linksAtHome: Look = {
  at: 'links that all lead to the domain of a proven sender',
  find: (facts) => {
    const senders = new Set(senderDomains(facts).map(({ name }) => registered(name)));
    const links = linkedHosts(facts).filter(({ fact }) => fact.key !== 'link');
    const isHome = links.length > 0 && links.every(({ name }) => senders.has(registered(name)));
    return isHome && senders.size === 1 ? vouched(facts, 'dmarc') : [];
  },
};

/**
 * These and `REASSURING_RULES` are the only rules that lower the points. Each looks at an answer of a gateway, a sensor or a directory, of a fixed form; a text that
 * somebody outside may have written is not among them, and neither is the absence of something.
 */
export const REASSURING_MAIL_RULES: readonly Rule[] = [
  {
    ...REASSURING,
    name: 'sender_proven',
    kind: 'who',
    points: -10,
    calms: ['sender'],
    explanation: 'The domain of the sender is proven. A mailbox that was taken over passes, too.',
    look: senderProven,
  },
  {
    ...REASSURING,
    name: 'nothing_asked',
    points: -20,
    proof: true,
    explanation: 'A proven sender from inside, or a known one, tells something and wants nothing.',
    look: nothingAsked,
  },
  {
    ...REASSURING,
    name: 'sorted_as_marketing',
    points: -20,
    calms: ['sender'],
    proof: true,
    explanation:
      'The gateway itself sorts it as marketing or a newsletter, and sees no more in it.',
    look: byTools(
      keys(`name rulename rule attacktype gatewaycategory category mailtype`),
      /^(?:newsletters?|marketing|gr[ae]y ?mail|promotional?)(?: (?:or|and) (?:newsletters?|marketing|gr[ae]y ?mail))?(?: mails?| messages?)?$/i,
    ),
  },
  {
    ...REASSURING,
    name: 'from_inside',
    kind: 'inside',
    points: -15,
    calms: ['sender'],
    explanation: 'A proven sender of the own company wrote it.',
    look: fromInside,
  },
  {
    ...REASSURING,
    name: 'links_at_home',
    kind: 'links',
    points: -10,
    calms: ['sender'],
    explanation: 'All links lead to the proven domain of the sender.',
    look: linksAtHome,
  },
  {
    ...REASSURING,
    name: 'long_known',
    kind: 'who',
    // The same holds for a mailbox that was taken over, and that is whose mails cost most.
    points: -20,
    calms: ['sender'],
    explanation: 'The sender has written here for long.',
    look: byToolsAtLeast(
      10,
      ...keys(`priorfromsender365d priormessages90d priormessages priorfromsender`),
    ),
  },
  {
    ...REASSURING,
    name: 'account_on_file',
    kind: 'match',
    // An attacker may write the right account and lie about something else.
    points: -35,
    calms: ['payment'],
    explanation: 'The bank details are those on file.',
    look: byTools(['ibanmatchesmaster', 'bankdetailsmatch'], YES),
  },
  {
    ...REASSURING,
    name: 'account_unchanged',
    kind: 'match',
    points: -25,
    calms: ['payment'],
    explanation: 'No bank details were changed.',
    look: byTools(['bankdetailschanged'], NO),
  },
  {
    ...REASSURING,
    name: 'vendor_known',
    kind: 'who',
    points: -10,
    calms: ['sender'],
    explanation: 'The vendor is on file.',
    look: byTools(['vendorknown', 'knownvendor'], YES),
  },
  {
    ...REASSURING,
    name: 'simulation_on_file',
    // The gateway itself knows its own exercise, and it explains lures only: no file that runs, no payment.
    points: -70,
    calms: ['talk', 'sender', 'lure', 'rating'],
    proof: true,
    explanation: 'The gateway knows the address as that of the training.',
    look: anyOf(
      byTools(keys(`ipinsimulationlist simulationipmatch issimulation isphishsimulation`), YES),
      byTools(
        keys(`
          orglevelpolicy policyoverride overridepolicy override systemoverride primaryoverridesource
          deliveryrule deliverypolicy`),
        /^(?:advanced delivery: )?(?:third[- ]party )?phish(?:ing)?[- _]?simulation$/i,
      ),
    ),
  },
];
