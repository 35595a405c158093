import { flooded } from '../hosts.js';
import { anyOf, atLeast, type Look, reads, type Rule, says, together } from '../rule.js';

const group = 'generic';
const ORDERS = { group } as const;

const DETECTIONS = [
  'detections',
  'positives',
  'detectioncount',
  'vtdetections',
  'vtpositives',
  'malicious',
  'enginesdetected',
] as const;

const invisible: Look = {
  at: 'texts with characters that are not seen: tags, joiners, turned directions',
  find: (facts) => facts.withInvisible,
};

/** A text that tells the reader what to decide comes from nobody who has a right to: it never makes an event look better. */
export const GENERIC_RULES: readonly Rule[] = [
  {
    group,
    name: 'engines_detect',
    points: 35,
    explanation: 'Several engines detect it.',
    look: atLeast(5, ...DETECTIONS),
  },
  {
    group,
    name: 'most_engines_detect',
    points: 15,
    explanation: 'So many engines detect it that a mistake of theirs is unlikely.',
    look: atLeast(30, ...DETECTIONS),
  },
  {
    group,
    name: 'high_risk',
    points: 15,
    explanation: 'The tool gives it a high risk.',
    look: anyOf(
      reads(
        ['risk', 'risklevel', 'riskstate', 'risklevelduringsignin', 'threatlevel'],
        /^(?:high|critical|severe|atrisk)$|\blevel=high\b/i,
      ),
      reads(['threatdetections'], /":\s?"high"/i),
      atLeast(80, 'riskscore', 'threatscore', 'fraudscore', 'anomalyscore'),
    ),
  },
  {
    group,
    name: 'flooded',
    points: 45,
    explanation: 'A text has so many addresses that one of them can hide among them.',
    look: { at: 'texts with thousands of addresses', find: flooded },
  },
  {
    group,
    name: 'too_much_to_read',
    points: 30,
    explanation: 'The event has more values than the rules read, which may hide something.',
    look: {
      at: 'whether all values were read',
      find: (facts) => (facts.cut ? facts.all.slice(0, 1) : []),
    },
  },
  {
    ...ORDERS,
    name: 'orders_a_verdict',
    points: 25,
    explanation: 'A text tells its reader which verdict to give.',
    look: says('verdict_order'),
  },
  {
    ...ORDERS,
    name: 'talks_to_machines',
    points: 20,
    explanation: 'A text talks to the machine that reads it.',
    look: says('orders_to_machine'),
  },
  {
    ...ORDERS,
    name: 'both_orders',
    points: 15,
    explanation: 'A text gives a machine the order to decide something.',
    look: together(says('verdict_order'), says('orders_to_machine')),
  },
  {
    ...ORDERS,
    name: 'invisible_text',
    points: 25,
    explanation: 'A text has characters that are not seen.',
    look: invisible,
  },
];
