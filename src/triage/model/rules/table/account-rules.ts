import {
  anyOf,
  atLeast,
  isFalse,
  isTrue,
  reads,
  type Rule,
  says,
  together,
  keys,
} from '../rule.js';

const TAKEOVER = { group: 'sign_in', category: 'account_takeover', mitre: ['T1078'] } as const;

/** Windows writes these when a member is added to a group of the domain, of a machine, and of the forest. */
const joined = anyOf(
  says('group_joined'),
  together(
    reads(['eventid', 'eventcode', 'winlogeventid'], /^(?:4728|4732|4756)$/),
    reads(
      keys(`group groupname targetgroup targetusername targetaccountname`),
      /\b(?:(?:domain|enterprise|schema|key) admins|administrators|(?:account|backup|server|print) operators|dnsadmins|group policy creator owners)$/i,
    ),
  ),
);

export const ACCOUNT_RULES: readonly Rule[] = [
  {
    ...TAKEOVER,
    name: 'factor_changed',
    points: 20,
    explanation: 'A second factor or a device was added or changed.',
    look: says('factor_changed'),
    mitre: ['T1098.005', 'T1556.006'],
  },
  {
    ...TAKEOVER,
    name: 'new_factor_after_risk',
    points: 30,
    explanation: 'A factor, device or right was added right after a risky sign-in.',
    look: together(
      says('factor_changed', 'privilege'),
      anyOf(
        says('hidden_network', 'token_reuse'),
        isTrue('riskysignin', 'samesessioncookie'),
        reads(['country', 'device'], /^(?:unregistered|unknown)/i),
      ),
    ),
    mitre: ['T1098'],
  },
  {
    ...TAKEOVER,
    name: 'consent',
    points: 30,
    explanation: 'An application was given rights to mail or files.',
    look: says('consent'),
    mitre: ['T1528'],
  },
  {
    ...TAKEOVER,
    name: 'unverified_publisher',
    points: 25,
    explanation: 'Nobody verified the publisher of the application.',
    look: anyOf(
      reads(['publisher', 'verifiedpublisher'], /^(?:unverified|none|unknown)$/i),
      isFalse(...keys(`publisherverified verifiedpublisher isverifiedpublisher appverified`)),
    ),
    category: 'phishing',
    mitre: ['T1528'],
  },
  {
    ...TAKEOVER,
    name: 'privilege',
    points: 25,
    explanation: 'High rights were taken or used.',
    look: says('privilege'),
    mitre: ['T1098.003'],
  },
  {
    ...TAKEOVER,
    name: 'privileged_member',
    points: 35,
    explanation: 'Somebody became a member of a group with high rights.',
    look: joined,
    mitre: ['T1098'],
  },
  {
    ...TAKEOVER,
    name: 'member_at_night',
    points: 12,
    explanation:
      'The new member was made at night, by the clock of the event, or outside of working hours.',
    look: together(
      joined,
      anyOf(
        says('at_night'),
        reads(
          keys(`time timestamp at eventtime timecreated localtime`),
          /^(?:\d{4}-\d\d-\d\d[T ])?(?:2[23]|0[0-4]):\d\d(?::\d\d)?(?:\.\d{1,9})?$/,
        ),
      ),
    ),
    mitre: ['T1098'],
  },
  {
    ...TAKEOVER,
    name: 'cloud_log_off',
    points: 45,
    explanation: 'The log of a cloud account was turned off, which hides what comes next.',
    look: says('cloud_log_off'),
    mitre: ['T1562.008'],
  },
  {
    ...TAKEOVER,
    name: 'ticket_attack',
    points: 50,
    explanation: 'Tickets of the directory were forged or collected.',
    look: anyOf(
      says('ticket_attack'),
      together(
        reads(['eventcode', 'eventid'], /^4769$/),
        reads(['ticketencryptiontype'], /^0x17$/i),
      ),
    ),
    mitre: ['T1558'],
  },
  {
    ...TAKEOVER,
    name: 'leaked_secret',
    points: 35,
    explanation: 'A secret is known outside.',
    look: anyOf(says('leaked_secret'), isTrue('publiclyleaked', 'passwordsinstealerlog')),
    mitre: ['T1552', 'T1078.004'],
  },
  {
    ...TAKEOVER,
    name: 'still_valid',
    points: 20,
    explanation: 'The leaked secret still works.',
    look: together(isTrue('publiclyleaked'), reads(['validity'], /^active$/i)),
    mitre: ['T1552'],
  },
  {
    ...TAKEOVER,
    name: 'exposed',
    points: 20,
    explanation: 'Something was opened to everybody.',
    look: says('exposed'),
    mitre: ['T1530'],
  },
  {
    ...TAKEOVER,
    name: 'cloud_misuse',
    points: 20,
    explanation:
      'The cloud account is used as who has stolen it does: machines, snapshots, other regions.',
    look: says('cloud_misuse'),
    mitre: ['T1496', 'T1578'],
  },
  {
    ...TAKEOVER,
    name: 'weak_proof',
    points: 30,
    explanation: 'The service desk reset an account on proof that strangers can have.',
    look: says('service_desk_pretext'),
    mitre: ['T1656'],
  },
  {
    ...TAKEOVER,
    name: 'service_account_by_hand',
    points: 25,
    explanation: 'An account of a service was used by hand.',
    look: together(
      reads(keys(`account user username targetusername`), /(?:^|\\)(?:svc|srv|sa)[_-]/i),
      reads(['logontype'], /^(?:2|10|11)$/),
    ),
    mitre: ['T1078.002'],
  },
  {
    ...TAKEOVER,
    name: 'dormant_account',
    points: 25,
    explanation: 'An account came back to life that should be closed.',
    look: anyOf(
      reads(['contractend', 'accountexpired'], /\S/),
      atLeast(90, 'dayssincelastsignin', 'dormantdays'),
    ),
    mitre: ['T1078'],
  },
];
