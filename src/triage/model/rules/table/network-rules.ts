import { asked, REQUEST_KEYS, requestLetThrough, requestsLike } from '../requests.js';
import {
  atLeast,
  type Look,
  reads,
  type Rule,
  tells,
  together,
  told,
  anyOf,
  keys,
} from '../rule.js';

const MALWARE = { group: 'network', category: 'malware', mitre: ['T1071.004'] } as const;
const WEB = { group: 'network', category: 'web_attack', mitre: ['T1190'] } as const;

/** By the tool: what a request itself says is the attack and not its name. */
/** A weakness that is found in code is called like the attack that it would let in. */
const named: Look = {
  at: `${tells('web_attack').at} and of requests, where no repository is named`,
  find: (facts) =>
    facts.fields.repository === undefined
      ? tells('web_attack')
          .find(facts)
          .filter(({ key }) => !REQUEST_KEYS.includes(key))
      : [],
};

export const NETWORK_RULES: readonly Rule[] = [
  {
    ...MALWARE,
    name: 'tunnel',
    points: 40,
    explanation: 'Names that are looked up carry data.',
    look: tells('tunnel'),
    mitre: ['T1071.004'],
  },
  {
    ...MALWARE,
    name: 'many_long_names',
    points: 25,
    explanation: 'Thousands of long names below one domain were looked up.',
    look: together(
      atLeast(2000, ...keys(`queries queries1h querycount count`)),
      atLeast(40, 'avglabellength', 'labellength'),
    ),
    mitre: ['T1071.004'],
  },
  {
    ...MALWARE,
    name: 'many_text_records',
    points: 25,
    explanation: 'Records that can carry data are looked up again and again.',
    look: together(
      reads(
        keys(`type querytype qtype qtypename recordtype rrtype dnsquerytype`),
        /^(?:TXT|NULL)$/i,
      ),
      atLeast(100, ...keys(`queriesperminute queriespermin qpm querycount queries count`)),
    ),
  },
  {
    ...MALWARE,
    name: 'data_in_name',
    points: 20,
    explanation: 'A name that was looked up begins with more letters than people choose.',
    look: reads(
      keys(`query queryname qname dnsquery rrname dnsquestionname queriedname`),
      /^[a-z0-9_=-]{30,63}\.[a-z0-9-]/i,
    ),
  },
  {
    ...WEB,
    name: 'attack_in_request',
    points: 35,
    explanation:
      'A request carries commands for a database, a shell or a browser, or leaves its folder.',
    look: requestsLike,
  },
  {
    ...WEB,
    name: 'code_uploaded',
    points: 30,
    explanation: 'A file with code for the server was uploaded to it.',
    look: together(
      told(/file(?:name)?$|upload\w*|path$|uri$/, /\.(?:php\d?|phtml|phar|aspx?|ashx|jspx?|cfm)$/i),
      anyOf(
        told(/path|uri|url|request|event|rule|title|alert/, /upload/i),
        told(/method$/, /^(?:PUT|POST)$/),
      ),
    ),
    mitre: ['T1505.003'],
  },
  {
    ...WEB,
    name: 'command_answered',
    points: 45,
    explanation: 'The server answered with the output of a command.',
    look: told(/./, /\buid=\d+\([a-z_-]{1,32}\)/i),
  },
  {
    ...WEB,
    name: 'web_attack_named',
    points: 25,
    explanation: 'The tool names an attack on a web server.',
    look: named,
  },
  {
    ...WEB,
    name: 'named_with_request',
    points: 10,
    explanation: 'The attack that the tool names is one of a request to a server.',
    look: together(named, asked),
  },
  {
    ...WEB,
    name: 'request_let_through',
    points: 12,
    explanation: 'The request with the attack was answered, or not stopped.',
    look: requestLetThrough,
  },
];
