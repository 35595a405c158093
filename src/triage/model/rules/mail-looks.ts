import { isBodyPart } from '../../evidence/indicators.js';
import { any, type Condition, evaluate, isTrue, type Look, reads, says } from './conditions.js';
import type { Fact, Facts } from './facts.js';
import * as hosts from './hosts.js';
import type { Sign } from './signs.js';

const MAIL_KEYS =
  'messageid sender subject recipient recipients from mailfrom objet subj rcpt fromdisplay spf dmarc'.split(
    ' ',
  );

/** Holds if the event contains a mail. This is no sign, so it quotes no words. */
export const isMail: Look = (facts) => [
  ...facts.named(...MAIL_KEYS).filter(({ value }) => /\S/.test(String(value))),
  ...facts.authentication.pointers.flatMap((pointer) => facts.at(pointer) ?? []),
];
export const inMail = (condition: Condition): Condition => ({
  only: (_, facts) => facts.isMail || isMail(facts).length > 0,
  from: condition,
});
/** Texts of a mail that ask for an act. Excludes the words of a rule or alert about the mail. */
const TITLES =
  /^(?:title|alert|alertname|alertdisplayname|displayname|rule|rulename|name|event|eventtype|description|reason|category|detection)$/;
export const wants = (sign: Sign): Condition => ({
  only: ({ key }) => !TITLES.test(key),
  from: says(sign),
});

export const FILE_KEYS =
  'name filename file attachment attachments attachmentnames files path listing contains contents members entries archivecontents inner innerfile innerfiles filenames attachmentname';
/** Endings of executable files, also with words after the ending, because the sender chooses the rest of the name. */
const RUNS =
  /\.(?:exe|scr|pif|bat|cmd|ps1|vbs|vbe|js|jse|wsf|wsh|hta|lnk|msi|iso|img|vhdx?|one|svg|s?html?|docm|xlsm|pptm|xll|jar|cpl|chm)(?![\p{L}\p{N}])/iu;
/** Excludes the body of the mail, which gateways list as an attachment. */
export const attachedProgram: Condition = {
  only: ({ value }) => !isBodyPart(String(value)),
  from: reads(FILE_KEYS, RUNS),
};

/** Returns each place of the hosts once, with the first host at the place. */
function placesOf(found: readonly hosts.Host[]): readonly Fact[] {
  const places = new Map<string, Fact>();
  for (const { name, fact } of found) {
    if (!places.has(fact.pointer)) places.set(fact.pointer, { ...fact, words: name });
  }
  return [...places.values()];
}
const senderSites = (facts: Facts): ReadonlySet<string> =>
  new Set(hosts.senderDomains(facts).map(({ name }) => hosts.registered(name)));
const besideSender = (facts: Facts, found: readonly hosts.Host[]): readonly Fact[] => {
  const senders = [...senderSites(facts)];
  return placesOf(
    found.filter(({ name }) => senders.some((sender) => sender !== hosts.registered(name))),
  );
};
/** Excludes the well-known key `link`, which is the page of the event in the console of a tool. */
const linksOf = (facts: Facts) =>
  hosts.linkedHosts(facts).filter(({ fact }) => fact.key !== 'link');

export const borrowedName: Look = (facts) => placesOf(hosts.borrowedNames(facts));
export const externalSender: Look = (facts) => placesOf(hosts.senderDomains(facts));
export const repliesElsewhere: Look = (facts) => besideSender(facts, hosts.replyDomains(facts));
export const linksElsewhere: Look = (facts) => besideSender(facts, linksOf(facts));
/** Links to IP addresses or to names in punycode. */
export const oddLink: Look = (facts) =>
  placesOf(
    hosts
      .linkedHosts(facts)
      .filter(({ name }) => /^(?:\d{1,3}\.){3}\d{1,3}$|(?:^|\.)xn--/.test(name)),
  );
const REAL_PERSON =
  /(?:^|\/)(?:real(?!ity|ly|m|time)|directory(?:address|entry|mail|email)|employeedirectorymatch|displaynamematch|matchesexecutive)/;
/** Facts of the tool about the genuine person with the sender's name. */
export const realPerson: Look = (facts) =>
  facts.all.filter(({ path, value }) => REAL_PERSON.test(path) && value !== '');

const PAGE_KEYS =
  'formfields inputs postfields asks questions pagetitle pagetext title resptitle label extractedtext heading fields fieldnames pagefields requests requestedfields'.split(
    ' ',
  );
/** Names that occur only for pages. Under the other names, tools that see no page describe the event. */
const OF_PAGES = /^(?:page\w*|formfields|postfields|requestedfields)$/;
/** Fields and titles of a page that ask for a password, a card or a code. Excludes the title of an alert. */
export const secretsAsked: Look = (facts) => {
  const ofPage = new Set(facts.named(...PAGE_KEYS).map(({ pointer }) => pointer));
  const hasPage = facts.isMail || hosts.linkedHosts(facts).length > 0;
  return facts
    .saying('asks_secrets', 'sign_in_request')
    .filter(({ pointer, key, path }) => ofPage.has(pointer) && (key !== 'title' || path !== key))
    .filter(({ key }) => hasPage || OF_PAGES.test(key));
};

const forwardedTo = (facts: Facts): readonly Fact[] =>
  facts.named(
    ...['forwardingsmtpaddress', 'forwardingaddress', 'forwardto', 'forwardasattachmentto'],
    ...['redirectto', 'blindcopyto'],
  );
const forwardedOutside: Look = (facts) => hosts.outside(facts, forwardedTo(facts));
/** Names of settings that forward mail, unless all addresses are of the own company. */
export const forwards: Condition = {
  only: (_, facts) => forwardedTo(facts).length === 0 || forwardedOutside(facts).length > 0,
  from: says('forwarding'),
};

/** Targets and words of mailbox rules with which an intruder hides replies and warnings. */
export const hidingRule = any(
  reads(
    'value movetofolder subjectcontainswords subjectorbodycontainswords bodycontainswords folder movedto destination targetfolder conditions newvalue',
    /^(?:notes|junk(?: e-?mail)?)\b|\b(?:rss (?:feeds|subscriptions)|conversation history|deleted items|sync issues)\b|\b(?:invoices?|payments?|wire|iban|phish\w*|hacked|passwords?|help ?desk|virus|suspicious|docusign)\b/i,
  ),
  // Only attackers write orders to the reader of an alert into the name of a rule.
  says('verdict_order', 'orders_to_machine'),
  isTrue('deletemessage'),
  forwardedOutside,
);

const obscureName = reads('value name movetofolder', /^[.,;:_ -]{1,4}$|^archi[vf]\w*$/i);
/** A new rule of a mailbox, unless it only moves mail to a folder with a name that its owner can read. */
export const ruleMade: Condition = {
  only: (_, facts) =>
    !facts.all.some(({ value }) => value === 'MoveToFolder') ||
    evaluate(obscureName, facts).length > 0,
  from: says('inbox_rule_made'),
};

export const senderProven: Look = (facts) => facts.vouched('dmarc');
