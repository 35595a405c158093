import { borrowedNames, registered, replyDomains, senderDomains } from '../hosts.js';
import {
  anyOf,
  type Look,
  type Rule,
  says,
  together,
  told,
  answered,
  numberOf,
  affirmed,
} from '../rule.js';
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

const DOMAIN_AGE =
  /(?:domain|site|host|url|sender|destination|registration|whois)\w*age(?:days?|indays)?$|^age(?:days|indays)$|dayssinceregist\w*|\w*registereddaysago$/;

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
    look: anyOf(
      answered(DOMAIN_AGE, ({ value }) => numberOf(value) <= 30, 'at most 30'),
      told(
        /(?:domain|site|host|url|sender|destination|cert\w*)\w*(?:age|regist\w*|creat\w*|firstseen)$|^(?:age|regist\w*)$/,
        /^(?:(?:only |about )?(?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten) (?:hours?|days?)|(?:[1-4]|two|three|four) weeks?|yesterday|today)\b/i,
      ),
    ),
  },
  {
    ...PHISHING,
    name: 'fairly_young_domain',
    points: 10,
    explanation: 'The domain is only some months old.',
    look: answered(DOMAIN_AGE, ({ value }) => numberOf(value) <= 90, 'at most 90'),
  },
  {
    ...PHISHING,
    name: 'lookalike_seen',
    points: 35,
    explanation: 'The tool sees a name that imitates another.',
    look: affirmed(
      /lookalike\w*|typosquat\w*|homoglyph\w*|\w*impersonation\w*|displayname(?:spoof\w*|matchesexecutive|match\w*)|spoof(?:ed|ing)?(?:detected)?$|cousindomain/,
    ),
  },
  {
    ...PHISHING,
    name: 'new_domain_seen',
    points: 20,
    explanation: 'The tool says that the domain is new.',
    look: affirmed(
      /(?:new|newlyregistered|young)(?:sender)?domain|newlyregistered\w*|isnewdomain|domainisnew/,
    ),
  },
  {
    ...PHISHING,
    name: 'first_contact',
    points: 4,
    explanation: 'The sender never wrote here before.',
    look: affirmed(
      /^(?:is)?(?:firstcontact|firsttime\w*|newsender|new(?:sender|contact)|sendingipnew\w*)$/,
    ),
  },
  {
    ...PHISHING,
    name: 'impersonation_seen',
    points: 15,
    explanation: 'The tool itself speaks of impersonation.',
    look: says('impersonation'),
  },
];
