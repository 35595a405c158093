import { linkedHosts, registered, senderDomains } from '../hosts.js';
import {
  anyOf,
  atLeast,
  isTrue,
  type Look,
  reads,
  type Rule,
  together,
  told,
  affirmed,
  keys,
} from '../rule.js';
import { isMail, placesOf } from './mail-looks.js';

const LINK = { group: 'mail', category: 'phishing', mitre: ['T1566.002'] } as const;
const PAGE_KEYS = keys(`
  formfields inputs postfields asks questions pagetitle pagetext title resptitle label
  extractedtext heading fields fieldnames pagefields requests requestedfields`);

const secretsAsked: Look = {
  at: 'fields and titles of the page behind a link that ask for a password, a card or a code',
  find: (facts) => {
    const ofPage = new Set(facts.named(...PAGE_KEYS).map(({ pointer }) => pointer));
    return (
      facts
        .saying('asks_secrets', 'sign_in_request')
        // The title of an alert is none of a page.
        .filter(
          ({ pointer, key, path }) => ofPage.has(pointer) && (key !== 'title' || path !== key),
        )
    );
  },
};
/** Names that only pages have. Under the others a tool that sees no page tells what happened. */
const OF_PAGES = /^(?:page\w*|formfields|postfields|requestedfields)$/;
const onPage: Look = {
  at: `${secretsAsked.at}, of a mail, or beside a link, or under names like ${OF_PAGES.source}`,
  find: (facts) => {
    const asked = secretsAsked.find(facts);
    return facts.isMail || linkedHosts(facts).length > 0
      ? asked
      : asked.filter(({ key }) => OF_PAGES.test(key));
  },
};
const linksElsewhere: Look = {
  at: 'hosts of links beside the domain of the sender',
  find: (facts) => {
    const senders = [...new Set(senderDomains(facts).map(({ name }) => registered(name)))];
    // The well-known key `link` is the event's page in the console of a tool.
    const elsewhere = linkedHosts(facts).filter(
      ({ name, fact }) =>
        fact.key !== 'link' && senders.some((sender) => sender !== registered(name)),
    );
    return placesOf(elsewhere);
  },
};
const oddLink: Look = {
  at: 'links to bare addresses or to names in punycode',
  find: (facts) => {
    const odd = linkedHosts(facts).filter(({ name }) =>
      /^(?:\d{1,3}\.){3}\d{1,3}$|(?:^|\.)xn--/.test(name),
    );
    return placesOf(odd);
  },
};

export const LINK_RULES: readonly Rule[] = [
  {
    ...LINK,
    name: 'links_elsewhere',
    points: 6,
    explanation: 'Links lead to another domain than that of the sender.',
    look: linksElsewhere,
  },
  {
    ...LINK,
    name: 'odd_link',
    points: 20,
    explanation: 'A link goes to a bare address or a name in punycode.',
    look: together(oddLink, isMail),
  },
  {
    ...LINK,
    name: 'page_asks_secrets',
    points: 35,
    explanation: 'The page behind the link asks for a password, a card or a code.',
    look: anyOf(
      onPage,
      told(
        /content|sniff|html|markup|source/,
        /<(?:form|input)\b(?:[^<]|<(?!(?:form|input)\b)){0,200}\bpassword\b/i,
      ),
      affirmed(
        /password(?:field|input|form|prompt|box)|credential(?:form|fields?|prompt|harvest\w*|page)|(?:has|page)(?:login|signin)(?:form|page)?|(?:login|signin)(?:form|page)(?:detected|found|present)?$|phishkit\w*/,
      ),
    ),
  },
  {
    ...LINK,
    name: 'page_sends_secrets',
    points: 25,
    explanation: 'A form sends what is typed to another host.',
    look: reads(keys(`formaction decodedformaction pagepostspasswordto formtarget poststo`), /\S/),
  },
  {
    ...LINK,
    name: 'page_imitates',
    points: 35,
    explanation: 'The page looks like the sign-in page of somebody else.',
    look: anyOf(
      reads(keys(`faviconhashmatches brandimitated imitates visualmatch`), /[a-z]/i),
      atLeast(0.8, 'proxiedpagesimilarity', 'pagesimilarity', 'similarity'),
    ),
  },
  {
    ...LINK,
    name: 'link_in_code',
    points: 15,
    explanation: 'The link is in a picture that filters do not read: a QR code.',
    look: told(/^qr|qrcode|qrurl|decodedqr|qrdecoded/, /:\/\//),
  },
  {
    ...LINK,
    name: 'reader_fell_for_it',
    points: 10,
    explanation: 'The recipient opened the link or entered something.',
    look: isTrue(...keys(`userclicked clicked credentialsentered submitted`)),
  },
];
