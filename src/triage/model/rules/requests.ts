import type { Facts } from './facts.js';
import { anyOf, isFalse, type Look, reads, together } from './rule.js';

export const REQUEST_KEYS: readonly string[] = [
  'uri',
  'url',
  'path',
  'p',
  'query',
  'querystring',
  'request',
  'requesturi',
  'requesturl',
  'requestline',
  'requestbody',
  'httpurl',
  'httprequest',
  'args',
  'matcheddata',
  'payload',
  'postdata',
  'body',
  'parameter',
  'useragent',
  'httpuseragent',
  'referer',
];

/** Each looks at a request as the server reads it. All runs have a limit, so that none is tried over and over. */
const ATTACKS: readonly RegExp[] = [
  /\bunion\s{1,20}(?:all\s{1,20})?select\b/i,
  /['"]\s{0,9}(?:or|and)\s{1,9}['"(]{0,3}\w{1,20}['"]{0,2}\s{0,9}=/i,
  /;\s{0,9}drop\s{1,9}table\b|\bwaitfor\s{1,9}delay\b|\b(?:pg_)?sleep\s{0,3}\(\s{0,3}\d|information_schema\.|xp_cmdshell/i,
  /(?:\.\.[\\/]){2}|\.\.[\\/]{1,3}(?:etc|windows|proc)\b|[\\/]etc[\\/](?:passwd|shadow)\b|[\\/]windows[\\/]win\.ini/i,
  /(?:[;|`]|&&|\$\()\s{0,9}(?:cat|id|whoami|wget|curl|nc|bash|sh|ping|uname|powershell|cmd(?:\.exe)?)\b(?!\s{0,3}=)/i,
  /[?&](?:cmd|exec|command)=(?:whoami|id|cat|ls|dir|uname|net|ipconfig|ifconfig|type)\b|\$\{jndi:/i,
  /class\.module\.classloader|autodiscover\.json\?\S{0,40}@|x-rps-cat|php:\/\/(?:input|filter)|\b(?:eval|passthru|shell_exec|base64_decode)\s{0,3}\(/i,
  /<script\b|\bonerror\s{0,5}=/i,
];
const LONGEST_REQUEST = 8_192;

/** Percent signs are read twice: who hides an attack from a filter writes them twice. */
function asRead(request: string): string {
  const text = request.slice(0, LONGEST_REQUEST).replaceAll('+', ' ');
  return unescaped(unescaped(text)).replaceAll('/**/', ' ');
}

const unescaped = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));

function attackIn(request: string): string | undefined {
  const text = asRead(request);
  for (const attack of ATTACKS) {
    const found = attack.exec(text)?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Names that only requests to servers have. The others are also those of parts of a mail, which are no requests. */
export const ONLY_OF_REQUESTS = REQUEST_KEYS.filter((key) =>
  /^(?:uri|querystring|request\w*|http\w+)$/.test(key),
);
const requestsOf = (facts: Facts) =>
  facts.isMail
    ? facts.named(...ONLY_OF_REQUESTS)
    : [
        ...facts.named(...REQUEST_KEYS),
        ...facts.all.filter(({ value }) => /^(?:GET|POST|PUT|DELETE|HEAD) \//.test(String(value))),
      ];

export const requestsLike: Look = {
  at: `requests in ${REQUEST_KEYS.join(', ')} like ${ATTACKS.map(({ source }) => source).join(' or ')}`,
  find: (facts) =>
    requestsOf(facts).flatMap((fact) => {
      const words = attackIn(String(fact.value));
      return words === undefined ? [] : [{ ...fact, words }];
    }),
};

export const asked: Look = {
  at: `values of ${REQUEST_KEYS.join(', ')}, outside of mails`,
  find: (facts) => requestsOf(facts).filter(({ value }) => value !== ''),
};

export const requestLetThrough: Look = together(
  requestsLike,
  anyOf(
    reads(
      ['status', 'statuscode', 'responsecode', 'httpstatus', 'responsestatus'],
      /^(?:2\d\d|500)$/,
    ),
    reads(
      ['wafaction', 'action', 'disposition', 'mode'],
      /^(?:detect(?:ed)?|log(?:ged)?(?: only)?|allow(?:ed)?|pass(?:ed)?|monitor(?:ed)?|count)$/i,
    ),
    isFalse('blocked', 'prevented'),
  ),
);
