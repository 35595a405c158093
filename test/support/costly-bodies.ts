/** Generates JSON of the given length that is costly to read and judge. */
export type Shape = (bytes: number) => string;

/** Maximum keys and values that the service reads. Padding fills the rest of the size. */
const MOST_KEYS = 43_000;
const MOST_VALUES = 89_000;

function repeated(open: string, item: (index: number) => string, close: string, most = Infinity) {
  return (bytes: number): string => {
    const items: string[] = [];
    let left = bytes - open.length - close.length;
    for (let index = 0; index < most; index += 1) {
      const text = item(index);
      left -= text.length + 1;
      if (left < 0) break;
      items.push(text);
    }
    return open + items.join(',') + close;
  };
}

const numbered = (index: number): string => index.toString(36).padStart(4, '0');

export const SHAPES: Readonly<Record<string, Shape>> = {
  'as many keys as are read': (bytes) => {
    const pad = 'k'.repeat(Math.max(0, Math.floor(bytes / MOST_KEYS) - 9));
    return repeated('{', (index) => `"${pad}${numbered(index)}":0`, '}', MOST_KEYS)(bytes);
  },
  'more keys than are read': repeated('{', (index) => `"${numbered(index)}":0`, '}'),
  'empty objects': repeated('[', () => '{}', ']', MOST_VALUES),
  'empty lists in lists': repeated('[', () => '['.repeat(20) + ']'.repeat(20), ']', 8_000),
  'numbers with exponents': repeated('[', () => '10000e1', ']', 2 * MOST_VALUES),
  'strings with escapes': repeated('["\\u005f",', () => '"\\n\\""', ']', 2 * MOST_VALUES),
  'small texts below a long name': (bytes) => {
    const name = 'k'.repeat(Math.floor(bytes * 0.4));
    const below = repeated('[', () => '"{{"', ']')(bytes - name.length - 6);
    return `{"${name}":${below}}`;
  },
  'spaces that a letter follows': (bytes) => `"${' '.repeat(bytes - 3)}\\t"`,
  'a number of that many digits': (bytes) => `1${'0'.repeat(bytes - 2)}1`,
  'references of a template': (bytes) => `"${'{{ parameters.ip }}'.repeat((bytes - 2) / 19)}"`,
};

/** Returns an event in the `generic` format with these members as details. */
const event = (members: string): string =>
  `{"event_type":"phishing","data":{"alert_id":"costly","severity":"high","details":{${members}}}}`;
const ROOM_OF_AN_EVENT = event('').length;

function eventOf(open: string, item: (index: number) => string, close: string): Shape {
  const members = repeated(open, item, close);
  return (bytes) => event(members(bytes - ROOM_OF_AN_EVENT));
}

/** Like `eventOf`, but the members are next to the details, where only the tool writes. */
function ofTool(item: (index: number) => string): Shape {
  const members = repeated('', item, '', MOST_FACTS / 2);
  return (bytes) =>
    event('').replace('"details"', () => `${members(bytes - ROOM_OF_AN_EVENT)},"details"`);
}

/** Maximum number of values of an event that the rules read. */
const MOST_FACTS = 10_000;

const HOSTS_BY_NAME = [
  ['from', '@a '],
  ['to', '@b '],
  ['reply_to', '@c '],
  ['recipients', '@d '],
  ['url', 'http://a '],
] as const;
const NESTED = Array.from({ length: 8 }, (_, at) => `p${at}=https%3A%2F%2Fb${at}.example%2F`);
const urlOf = (index: number): string =>
  `https://a${numbered(index)}.example.com/?${NESTED.join('&')}`;

/** Shapes of signed events that are most costly to read, to judge by rules, and to compare with earlier reports. */
export const EVENT_SHAPES: Readonly<Record<string, Shape>> = {
  'headers with results': eventOf('"authentication-results":[', () => '"mx; spf=pass"', ']'),
  'long headers with results': eventOf(
    '"authentication-results":[',
    () => '"mx; spf=pass smtp.mailfrom=a@b.example; dkim=pass header.d=b.example; dmarc=fail"',
    ']',
  ),
  'a list of SPF results': eventOf('"spf":[', () => '"pass"', ']'),
  'a list of truth values for SPF': eventOf('"spf":[', () => 'true', ']'),
  'a list of DKIM results': eventOf('"dkim":[', () => '{"result":"pass"}', ']'),
  'DKIM results in objects of their own': eventOf(
    '',
    (index) => `"${numbered(index)}":{"dkim":"fail"}`,
    '',
  ),
  'summaries that are JSON': eventOf('"authentication":[', () => '"{\\"spf\\":\\"pass\\"}"', ']'),
  'headers as pairs': eventOf('"headers":[', () => '["Authentication-Results","spf=pass"]', ']'),
  'URLs in URLs': eventOf('"urls":[', (index) => `"${urlOf(index)}"`, ']'),
  'URLs in URLs in one text': eventOf('"body":"', (index) => urlOf(index), '"'),
  'many parts in each word': eventOf(
    '"body":"',
    (index) => `${'a.com:'.repeat(300)}${index} `,
    '"',
  ),
  'many keys': eventOf('', (index) => `"k${numbered(index)}":"v"`, ''),
  'hosts in many texts': eventOf('"from":[', () => `"${'@a '.repeat(30)}"`, ']'),
  'hosts of senders, recipients, replies and links': eventOf(
    '"items":[',
    () => `{${HOSTS_BY_NAME.map(([name, host]) => `"${name}":"${host.repeat(30)}"`).join(',')}}`,
    ']',
  ),
  'hosts in one text': eventOf('"from":"', (index) => `@${numbered(index)}.example`, '"'),
  'links to many hosts': eventOf(
    '"from":"a@b.example","urls":[',
    (index) => `"http://${numbered(index)}.example ${'http://a '.repeat(10)}"`,
    ']',
  ),
  'names that nearly are known ones': eventOf(
    '',
    (index) =>
      `"${index}":{"known_domain":"bcdefghijklmnopqrst${numbered(index)}.test",` +
      `"from":"a@bcdefghijklmnopqrst${numbered(index + 1)}.example"}`,
    '',
  ),
  'counts beside usual counts': ofTool(
    (index) => `"usual_${numbered(index)}":1,"n${numbered(index)}":1`,
  ),
  'tags of forms': eventOf('"content":[', () => `"${'<form'.repeat(400)}"`, ']'),
};

/** Lists whose items are costly to read one by one. */
export const LIST_SHAPES: Readonly<Record<string, Shape>> = Object.fromEntries(
  Object.entries({
    'texts of one letter': '"a"',
    digits: '1',
    lists: '[1]',
    'pages of events': '{"alerts":[]}',
  }).map(([name, item]) => [
    name,
    repeated('[{"event_type":"phishing","data":{"alert_id":"costly"}},', () => item, ']'),
  ]),
);

interface Place {
  readonly path: string;
  readonly bodyWith: (json: string) => string;
  /** Length of the whole body, in bytes. */
  readonly bytes: number;
}

const LIMIT = 1_048_576;
const LIMIT_OF_STRANGERS = 16_384;
const LIMIT_OF_RAW_DATA = 262_144;

function placeOf(path: string, before = '', after = '', bytes = LIMIT): Place {
  return { path, bytes, bodyWith: (json) => before + json + after };
}

/**
 * Places where JSON can be in a body: the whole body, a text, a free object, a part of a free object, and a template.
 */
export const PLACES: readonly Place[] = [
  placeOf('/login', '', '', LIMIT_OF_STRANGERS),
  placeOf('/login', '{"username":"ada","password":', '}', LIMIT_OF_STRANGERS),
  placeOf('/api/webhooks/costly'),
  placeOf('/api/webhooks/costly/preview'),
  placeOf('/api/incidents'),
  placeOf('/api/incidents', '{"incident_type":"other","source":"x","title":', '}'),
  ...[LIMIT, LIMIT_OF_RAW_DATA].flatMap((bytes) => [
    placeOf('/api/incidents', '{"incident_type":"other","source":"x","raw_data":', '}', bytes),
    placeOf(
      '/api/incidents',
      '{"incident_type":"other","source":"x","raw_data":{"a":',
      '}}',
      bytes,
    ),
  ]),
  placeOf('/api/connectors', '{"name":"x","type":"http","config":', '}'),
  placeOf(
    '/api/connectors',
    '{"name":"x","type":"http","config":{"base_url":"https://firewall.example.com","actions":{"block_ip":{"path":"/block","body":{"ip":',
    '}}}}}',
  ),
  placeOf('/api/playbooks', '{"name":"x","steps":', '}'),
  placeOf('/api/playbooks', '{"name":"x","steps":[],"variables":{"a":', '}}'),
  placeOf(
    '/api/playbooks',
    '{"name":"x","steps":[{"name":"x","action":"lookup_ip","parameters":{"ip":',
    '}}]}',
  ),
  placeOf('/api/actions/execute', '{"action":"lookup_ip","parameters":', '}'),
  placeOf('/api/actions/execute', '{"action":"lookup_ip","parameters":{"ip":', '}}'),
];
