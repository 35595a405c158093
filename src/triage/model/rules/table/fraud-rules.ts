import { senderDomains } from '../hosts.js';
import {
  anyOf,
  isFalse,
  isTrue,
  type Look,
  reads,
  type Rule,
  says,
  together,
  keys,
} from '../rule.js';
import { isMail, placesOf } from './mail-looks.js';

const FRAUD = { group: 'mail', category: 'bec', mitre: ['T1534'] } as const;
const REAL_PERSON =
  /(?:^|\/)(?:real(?!ity|ly|m|time)|directory(?:address|entry|mail|email)|employeedirectorymatch|displaynamematch|matchesexecutive)/;

const external: Look = {
  at: 'addresses of senders',
  find: (facts) => placesOf(senderDomains(facts)),
};
const realPerson: Look = {
  at: `what the tool says of the real bearer of the name, at ${REAL_PERSON.source}`,
  find: (facts) => facts.all.filter(({ path, value }) => REAL_PERSON.test(path) && value !== ''),
};

export const FRAUD_RULES: readonly Rule[] = [
  {
    ...FRAUD,
    name: 'payment_change',
    points: 30,
    explanation: 'Payments are to go to another account than before.',
    look: says('payment_change'),
  },
  {
    ...FRAUD,
    name: 'account_changed_on_file',
    points: 30,
    explanation: 'Bank details were changed without a call to the known number.',
    look: anyOf(
      isFalse(...keys(`callbackdone callbackverified verifiedbyphone ibanmatchesmaster`)),
      isTrue('bankdetailschanged'),
      reads(['newibancountry'], /\S/),
    ),
  },
  {
    ...FRAUD,
    name: 'gift_cards',
    points: 50,
    explanation: 'Somebody wants gift cards bought and their codes sent.',
    look: says('gift_cards'),
  },
  {
    ...FRAUD,
    name: 'secrecy',
    points: 25,
    explanation: 'The writer wants secrecy, or no calls.',
    look: together(says('secrecy'), isMail),
  },
  {
    ...FRAUD,
    name: 'money_and_secrecy',
    points: 25,
    explanation: 'Money and secrecy are asked for in one breath.',
    look: together(says('money_request', 'payment_change', 'gift_cards'), says('secrecy')),
  },
  {
    ...FRAUD,
    name: 'sensitive_list',
    points: 40,
    explanation: 'Somebody asks for lists of staff or customers that fraud is made with.',
    look: together(says('sensitive_list'), isMail),
  },
  {
    ...FRAUD,
    name: 'other_person',
    points: 25,
    explanation: 'The sender bears the name of somebody whose real address is another.',
    look: together(
      realPerson,
      external,
      says('money_request', 'payment_change', 'gift_cards', 'sensitive_list', 'sign_in_request'),
    ),
  },
  {
    ...FRAUD,
    name: 'voice_pretext',
    points: 25,
    explanation: 'Voice or video was used to ask for money, which can be imitated.',
    look: together(says('voice_pretext'), says('money_request', 'payment_change')),
  },
  {
    ...FRAUD,
    name: 'hides_in_mailbox',
    points: 45,
    explanation: 'A rule of the mailbox hides or forwards mail.',
    look: says('inbox_rule', 'forwarding'),
    mitre: ['T1564.008', 'T1114.003'],
  },
];
