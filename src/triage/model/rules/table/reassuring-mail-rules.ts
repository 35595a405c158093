import { vouched } from '../authentication.js';
import { nothingAsked } from '../calm-mail.js';
import { anyOf, byTools, byToolsAtLeast, type Look, type Rule } from '../rule.js';

const REASSURING = { group: 'reassuring', category: 'legitimate' } as const;
const YES = /^(?:true|yes)$/i;
const NO = /^(?:false|no|0)$/i;

const senderProven: Look = {
  at: 'DMARC passed, said by the gateway and not in the headers of the mail',
  find: (facts) => vouched(facts, 'dmarc'),
};

/**
 * These and `REASSURING_RULES` are the only rules that lower the points. Each looks at an answer of a gateway, a sensor or a directory, of a fixed form; a text that
 * somebody outside may have written is not among them, and neither is the absence of something.
 */
export const REASSURING_MAIL_RULES: readonly Rule[] = [
  {
    ...REASSURING,
    name: 'sender_proven',
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
    name: 'long_known',
    // The same holds for a mailbox that was taken over, and that is whose mails cost most.
    points: -20,
    calms: ['sender'],
    explanation: 'The sender has written here for long.',
    look: byToolsAtLeast(
      10,
      'priorfromsender365d',
      'priormessages90d',
      'priormessages',
      'priorfromsender',
    ),
  },
  {
    ...REASSURING,
    name: 'account_on_file',
    // An attacker may write the right account and lie about something else.
    points: -35,
    calms: ['payment'],
    explanation: 'The bank details are those on file.',
    look: byTools(['ibanmatchesmaster', 'bankdetailsmatch'], YES),
  },
  {
    ...REASSURING,
    name: 'account_unchanged',
    points: -25,
    calms: ['payment'],
    explanation: 'No bank details were changed.',
    look: byTools(['bankdetailschanged'], NO),
  },
  {
    ...REASSURING,
    name: 'vendor_known',
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
    calms: ['sender', 'lure', 'rating'],
    proof: true,
    explanation: 'The gateway knows the address as that of the training.',
    look: anyOf(
      byTools(['ipinsimulationlist', 'simulationipmatch'], YES),
      byTools(
        ['orglevelpolicy', 'policyoverride', 'systemoverride', 'primaryoverridesource'],
        /^(?:third[- ]party )?phish(?:ing)?[- _]?simulation$/i,
      ),
    ),
  },
  {
    ...REASSURING,
    name: 'sent_inside',
    points: -15,
    calms: ['sender'],
    explanation: 'The mail was sent inside.',
    look: byTools(['internal', 'isinternal'], YES),
  },
];
