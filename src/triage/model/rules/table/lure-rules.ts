import { type Look, reads, type Rule, says, together, keys } from '../rule.js';
import type { Sign } from '../signs/signs.js';
import { isMail } from './mail-looks.js';

const PHISHING = { group: 'mail', category: 'phishing', mitre: ['T1566'] } as const;

const onlyTold: Look = {
  at: 'words of attacks in the text of a mail',
  find: (facts) => (facts.isMail ? facts.onlyTelling : []),
};

/** Rules and alerts speak of sign-ins and of accounts themselves: only what else is in the event is a request to its reader. */
const TITLES =
  /^(?:title|alert|alertname|alertdisplayname|displayname|rule|rulename|name|event|eventtype|description|reason|category|detection)$/;
const wants = (sign: Sign): Look => ({
  at: `${says(sign).at}, outside of ${TITLES.source}`,
  find: (facts) => facts.saying(sign).filter(({ key }) => !TITLES.test(key)),
});

export const LURE_RULES: readonly Rule[] = [
  {
    ...PHISHING,
    name: 'account_threat',
    points: 15,
    explanation: 'The text threatens the loss of an account or a mailbox.',
    look: together(wants('account_threat'), isMail),
  },
  {
    ...PHISHING,
    name: 'urgency',
    points: 6,
    explanation: 'The text hurries its reader.',
    look: together(says('urgency'), isMail),
  },
  {
    ...PHISHING,
    name: 'sign_in_request',
    points: 15,
    explanation: 'The text wants its reader to sign in or to scan a code.',
    look: together(wants('sign_in_request'), isMail),
  },
  {
    ...PHISHING,
    name: 'lure',
    points: 10,
    explanation: 'The mail poses as a shared document, a voice message, a signature or a parcel.',
    look: together(says('voicemail', 'parcel_fee'), isMail),
  },
  {
    ...PHISHING,
    name: 'seed_phrase',
    points: 40,
    explanation: 'Somebody asks for the words that open a wallet.',
    look: says('seed_phrase'),
  },
  {
    ...PHISHING,
    name: 'asks_to_run',
    points: 35,
    explanation: 'The mail wants its reader to paste a command and run it.',
    look: together(says('run_this'), onlyTold),
    category: 'malware_delivery',
    mitre: ['T1204.004'],
  },
  {
    ...PHISHING,
    name: 'opener',
    points: 8,
    explanation: 'The mail begins a talk as frauds do, before they ask for money.',
    look: together(says('opener'), isMail),
    category: 'bec',
  },
  {
    ...PHISHING,
    name: 'speaks_of_attacks',
    points: 5,
    explanation:
      'The mail speaks of attacks or their tools. That is no trace of one: news and warnings do so, too.',
    look: onlyTold,
    category: undefined,
    mitre: [],
  },
  {
    ...PHISHING,
    name: 'call_back',
    points: 45,
    explanation: 'The mail reports a charge and wants a call: fraud by telephone leaves no link.',
    look: together(
      says('call_back'),
      says('charged'),
      reads(keys(`body text bodytext bodypreview content`), /\+?\d[\d ()-]{7,40}\d/),
    ),
  },
  {
    ...PHISHING,
    name: 'device_code',
    points: 45,
    explanation: 'A code for signing in a device is asked for, which gives a stranger the session.',
    look: says('device_code'),
  },
  {
    ...PHISHING,
    name: 'extortion',
    points: 30,
    explanation: 'The text extorts money by a claim.',
    look: together(says('extortion'), isMail),
    category: 'spam',
  },
  {
    ...PHISHING,
    name: 'unsolicited',
    points: 22,
    explanation: 'A prize or a present is promised.',
    look: together(says('unsolicited'), isMail),
    category: 'spam',
  },
];
