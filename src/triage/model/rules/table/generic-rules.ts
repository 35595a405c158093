import { flooded } from '../hosts.js';
import {
  anyOf,
  atLeast,
  answered,
  type Look,
  reads,
  type Rule,
  says,
  together,
  countOf,
  keys,
} from '../rule.js';
import { farAboveUsual } from './context-looks.js';

const group = 'generic';
const ORDERS = { group } as const;

const DETECTIONS = keys(`
  detections positives detectioncount vtdetections vtpositives malicious enginesdetected`);

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
        keys(`risk risklevel riskstate risklevelduringsignin threatlevel`),
        /^(?:high|critical|severe|atrisk)$|\blevel=high\b/i,
      ),
      reads(['threatdetections'], /":\s?"high"/i),
      countOf(
        /(?:risk|threat|fraud|anomaly|phish|phishing|malware|malicious\w*|impostor|bec|mlmalware)score$/,
        80,
      ),
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
    points: 10,
    explanation: 'A text tells its reader which verdict to give.',
    look: says('verdict_order'),
  },
  {
    ...ORDERS,
    name: 'talks_to_machines',
    points: 10,
    explanation: 'A text talks to the machine that reads it.',
    look: says('orders_to_machine'),
  },
  {
    ...ORDERS,
    name: 'both_orders',
    points: 5,
    explanation: 'A text gives a machine the order to decide something.',
    look: together(says('verdict_order'), says('orders_to_machine')),
  },
  {
    ...ORDERS,
    name: 'invisible_text',
    points: 15,
    explanation: 'A text has characters that are not seen.',
    look: invisible,
  },
  {
    group,
    name: 'not_approved',
    points: 15,
    explanation: 'Nobody approved it, and no change or order covers it.',
    look: answered(
      /^(?:\w*(?:approv(?:ed|al)|authori[sz]ed|sanctioned)|\w*(?:ticket|change|workorder|order)(?:onfile|found|record|request|id)?|approvedsoftware|maintenancewindow|inchangewindow|purchaseorder)$/,
      ({ value }) =>
        /^(?:false|no|none(?: found| on file)?|not (?:found|approved|on file|authori[sz]ed)\b.*|no (?:ticket|change|record|approval|order|match)\b.*|missing|unapproved|rejected|n\/a)$/i.test(
          String(value).trim(),
        ),
      'no',
    ),
  },
  {
    group,
    name: 'not_verified',
    points: 15,
    explanation:
      'Who asked for it was not verified, or what it says does not match what is on file.',
    look: answered(
      /^(?:callback\w*|\w*callertoknownnumber|caller(?:identity)?verified|identityverified|\w*verified(?:by(?:phone|callback))?|\w*confirmed(?:by\w+)?|\w*(?:iban|account|bank|address|name|domain|order|invoice|sender|vendor)\w*match(?:es)?\w*|\w*match(?:es)?(?:master|onfile|record|vendor|erp|order|po)\w*|(?:sender|address|domain)is\w+)$/,
      ({ value }) =>
        /^(?:false|no|not (?:done|verified|confirmed|made)\b.*|mismatch)$/i.test(
          String(value).trim(),
        ),
      'no',
    ),
  },
  {
    group,
    name: 'not_asked',
    points: 8,
    explanation: 'Nobody who could explain it has been asked, or the answer is still missing.',
    look: answered(
      /^(?:\w*asked|asked\w*|(?:manager|owner|user|requester|employee|agency)\w*reached|\w*(?:informed|notified)(?:soc)?|notifiedsoc|spokenwith\w*|\w*(?:confirmation|answer(?:ed)?|reply|response)|contacted\w*)$/,
      ({ value }) =>
        /^(?:false|no|none|pending|unknown|open|not (?:yet|reached|asked|available)\b.*|no (?:answer|reply|response)\b.*|.{1,40}\bnot (?:reached|answered|asked)(?: yet)?)$/i.test(
          String(value).trim(),
        ),
      'no',
    ),
  },
  {
    group,
    name: 'outside_of_scope',
    points: 15,
    explanation: 'The plan, list or window on record does not cover it.',
    look: answered(
      /^(?:\w*(?:in|on|within|covered|matches|listed)\w*(?:scope|list|window|plan|schedule|roe|engagement|campaign|inventory|cmdb)\w*|\w*scope|\w*(?:scheduled|planned|expected|registered|documented|announced)|(?!\w*(?:white|black|allow|deny|block|safe)list)\w*(?:known|listed)(?:in\w+)?)$/,
      ({ value }) =>
        /^(?:false|no|none|out(?:side)?\b.*|not (?:in|on|listed|covered|registered|scheduled|planned|announced)\b.*)$/i.test(
          String(value).trim(),
        ),
      'no',
    ),
  },
  {
    group,
    name: 'never_before',
    points: 10,
    explanation: 'It was never seen here before.',
    look: anyOf(
      answered(
        /^(?:\w*(?:seen|used|known|contacted|observed|loggedon)(?:before|previously|here|inorg|fortenant)?|\w*(?:usual|familiar|typical|expected)(?:for\w+)?|previously\w*)$/,
        ({ value }) =>
          /^(?:false|no|never|never (?:seen|used|before)\b.*|first time\b.*|none)$/i.test(
            String(value).trim(),
          ),
        'no',
      ),
      answered(
        /^(?:\w*new(?:for|to)\w+|\w*firstseen(?:inorg|here|today)?|\w*history|first(?:use|time|ever)\w*|\w*(?:rare|unusual|anomalous|unfamiliar|neverseen)\w*|new(?:ip|asn|geo|city|isp|sender|host|country|device|location|process|domain|useragent)\w*)$/,
        ({ value }) =>
          /^(?:true|yes|today|never\b.*|first time\b.*|none|new|rare)$/i.test(String(value).trim()),
        'yes',
      ),
    ),
  },
  {
    group,
    name: 'far_above_usual',
    points: 20,
    explanation: 'It is many times what is usual here.',
    look: farAboveUsual,
  },
];
