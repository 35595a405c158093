import { borrowedNames, registered, replyDomains, senderDomains } from '../hosts.js';
import { anyOf, atMost, isTrue, type Look, type Rule, says, together } from '../rule.js';
import { checked, placesOf } from './mail-looks.js';

const PHISHING = { group: 'mail', category: 'phishing', mitre: ['T1566'] } as const;

const borrowed: Look = {
  at: 'hosts of senders and links beside the domains of the recipients and the known domains',
  find: (facts) => placesOf(borrowedNames(facts)),
};
const repliesElsewhere: Look = {
  at: 'the domain of the reply address beside the domain of the sender',
  find: (facts) => {
    const senders = [...new Set(senderDomains(facts).map(({ name }) => registered(name)))];
    const elsewhere = replyDomains(facts).filter(({ name }) =>
      senders.some((sender) => sender !== registered(name)),
    );
    return placesOf(elsewhere);
  },
};

export const SENDER_RULES: readonly Rule[] = [
  {
    ...PHISHING,
    name: 'dmarc_failed',
    points: 25,
    explanation: 'DMARC failed: the mail does not come from the domain that it names.',
    look: anyOf(checked('dmarc', 'fail'), checked('compauth', 'fail')),
  },
  {
    ...PHISHING,
    name: 'dmarc_absent',
    points: 8,
    explanation: 'No DMARC policy vouches for the domain of the sender.',
    look: checked('dmarc', 'none'),
  },
  {
    ...PHISHING,
    name: 'spf_failed',
    points: 10,
    explanation: 'The sending server is not one that the domain allows.',
    look: checked('spf', 'fail', 'softfail'),
  },
  {
    ...PHISHING,
    name: 'signature_missing',
    points: 6,
    explanation: 'The mail carries no valid signature of its domain.',
    look: checked('dkim', 'none', 'fail'),
  },
  {
    ...PHISHING,
    name: 'nobody_vouches',
    points: 12,
    explanation: 'Neither the server nor a signature nor a policy vouches for the sender.',
    look: together(
      checked('spf', 'none', 'neutral'),
      checked('dkim', 'none'),
      checked('dmarc', 'none'),
    ),
  },
  {
    ...PHISHING,
    name: 'name_borrowed',
    points: 45,
    explanation: 'A host borrows the name of an organisation that it does not belong to.',
    look: borrowed,
  },
  {
    ...PHISHING,
    name: 'replies_elsewhere',
    points: 25,
    explanation: 'Answers go to another domain than that of the sender.',
    look: repliesElsewhere,
  },
  {
    ...PHISHING,
    name: 'young_domain',
    points: 25,
    explanation: 'The domain is only some weeks old.',
    look: atMost(30, 'domainagedays', 'domainage', 'agedays'),
  },
  {
    ...PHISHING,
    name: 'fairly_young_domain',
    points: 10,
    explanation: 'The domain is only some months old.',
    look: atMost(90, 'domainagedays', 'domainage', 'agedays'),
  },
  {
    ...PHISHING,
    name: 'lookalike_seen',
    points: 35,
    explanation: 'The tool sees a name that imitates another.',
    look: isTrue(
      'lookalike',
      'islookalike',
      'typosquat',
      'homoglyph',
      'impersonation',
      'lookalikedomain',
      'displaynamespoof',
      'brandimpersonation',
    ),
  },
  {
    ...PHISHING,
    name: 'new_domain_seen',
    points: 20,
    explanation: 'The tool says that the domain is new.',
    look: isTrue('newdomain', 'newlyregistered', 'newlyregistereddomain', 'isnewdomain'),
  },
  {
    ...PHISHING,
    name: 'first_contact',
    points: 4,
    explanation: 'The sender never wrote here before.',
    look: isTrue('firstcontact', 'firsttimesender', 'isfirsttime', 'newsender'),
  },
  {
    ...PHISHING,
    name: 'impersonation_seen',
    points: 15,
    explanation: 'The tool itself speaks of impersonation.',
    look: says('impersonation'),
  },
];
