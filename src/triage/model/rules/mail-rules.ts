import {
  all,
  any,
  check,
  circumstances,
  type Condition,
  evaluate,
  isTrue,
  type Look,
  reads,
  says,
  saysBeside,
  signs,
} from './conditions.js';
import { isBodyPart } from '../../evidence/indicators.js';
import { twoCountries } from './account-rules.js';
import { isOfTools, MESSAGES, type Fact, type Facts } from './facts.js';
import * as hosts from './hosts.js';
import type { Sign } from './signs.js';

const MAIL_KEYS =
  'messageid sender subject recipient recipients from mailfrom objet subj rcpt fromdisplay spf dmarc'.split(
    ' ',
  );

/** Finds the parts of a mail. They are no sign, so no words are quoted. */
const isMail: Look = (facts) => [
  ...facts.named(...MAIL_KEYS).filter(({ value }) => /\S/.test(String(value))),
  ...facts.authentication.pointers.flatMap((pointer) => facts.at(pointer) ?? []),
];
export const inMail = (condition: Condition): Condition => ({
  only: (_, facts) => facts.isMail || isMail(facts).length > 0,
  from: condition,
});
const valuesOf = (facts: Facts, keys: string): readonly string[] =>
  facts.named(...keys.split(' ')).map(({ value }) => String(value).toLowerCase());
/** Holds only for a received mail. Excludes mails that the user sent, as in reports of data loss prevention. */
const received = (condition: Condition): Condition => ({
  only: (_, facts) => {
    const senders = valuesOf(facts, 'sender from mailfrom fromaddress');
    return !valuesOf(facts, 'userid user userprincipalname').some((user) => senders.includes(user));
  },
  from: inMail(condition),
});
/** Keys with the words of a rule or alert about the mail. They do not ask the recipient for an act. */
const TITLES =
  /^(?:title|alert|alertname|alertdisplayname|displayname|rule|rulename|name|event|eventtype|description|reason|category|detection)$/;
const wants = (sign: Sign): Condition => ({
  only: ({ key }) => !TITLES.test(key),
  from: says(sign),
});

/** A proven mail without link, file and picture leads its reader nowhere. */
const canLure = (facts: Facts): boolean =>
  facts.vouched('dmarc').length === 0 ||
  hosts.linkedHosts(facts).some(({ fact }) => !/log\//.test(fact.path)) ||
  facts.all.some(({ path }) => /attach|qr|picture|image|file|phone/.test(path));
const FILE_KEYS =
  'name filename file attachment attachments attachmentnames files path listing contains contents members entries archivecontents inner innerfile innerfiles filenames attachmentname';
/** Matches the ending of an executable file. Further words may follow, because the sender chooses the name. */
const RUNS =
  /\.(?:exe|scr|pif|bat|cmd|ps1|vbs|vbe|js|jse|wsf|wsh|hta|lnk|msi|iso|img|vhdx?|one|svg|s?html?|docm|xlsm|pptm|xll|jar|cpl|chm)(?![\p{L}\p{N}])/iu;
/** Finds an executable attachment. Excludes the body of the mail, which gateways list as an attachment. */
const attachedProgram: Condition = {
  only: ({ value }) => !isBodyPart(String(value)),
  from: reads(FILE_KEYS, RUNS),
};

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
/** Excludes the well-known key `link`, which contains the page of the event in the console of a tool. */
const linksOf = (facts: Facts) =>
  hosts.linkedHosts(facts).filter(({ fact }) => fact.key !== 'link');

const borrowedName: Look = (facts) => placesOf(hosts.borrowedNames(facts));
const externalSender: Look = (facts) => placesOf(hosts.senderDomains(facts));
/** Services that send for their customers, to whom the replies go. */
const SIGNATURE_SERVICES = /^(?:docusign|adobesign|echosign|hellosign|dropboxsign)\.(?:com|net)$/;
const repliesElsewhere: Look = (facts) => besideSender(facts, hosts.replyDomains(facts));
export const linksElsewhere: Look = (facts) => besideSender(facts, linksOf(facts));
const oddLink: Look = (facts) =>
  placesOf(
    hosts
      .linkedHosts(facts)
      .filter(({ name }) => /^(?:\d{1,3}\.){3}\d{1,3}$|(?:^|\.)xn--/.test(name)),
  );
const REAL_PERSON =
  /(?:^|\/)(?:real(?!ity|ly|m|time)|directory(?:address|entry|mail|email)|employeedirectorymatch|displaynamematch|matchesexecutive)/;
const realPerson: Look = (facts) =>
  facts.all.filter(({ path, value }) => REAL_PERSON.test(path) && value !== '');

const PAGE_KEYS =
  'formfields inputs postfields asks questions pagetitle pagetext title resptitle label extractedtext heading fields fieldnames pagefields requests requestedfields'.split(
    ' ',
  );
/** Keys that only occur for pages. The other PAGE_KEYS may describe an event without a page. */
const OF_PAGES = /^(?:page\w*|formfields|postfields|requestedfields)$/;
/** Fields and titles of a page that ask for a password, a card or a code. Excludes the title of an alert. */
const secretsAsked: Look = (facts) => {
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
const forwards: Condition = {
  only: (_, facts) => forwardedTo(facts).length === 0 || forwardedOutside(facts).length > 0,
  from: says('forwarding'),
};

const hidingRule = any(
  reads(
    'value movetofolder subjectcontainswords subjectorbodycontainswords bodycontainswords folder movedto destination targetfolder conditions newvalue',
    /^(?:notes|junk(?: e-?mail)?)\b|\b(?:rss (?:feeds|subscriptions)|conversation history|deleted items|sync issues)\b|\b(?:invoices?|payments?|wire|iban|phish\w*|hacked|passwords?|help ?desk|virus|suspicious|docusign)\b/i,
  ),
  // Orders to the reader of an alert, in the name of a mailbox rule. Only attackers write them.
  says('verdict_order', 'orders_to_machine'),
  isTrue('deletemessage'),
  forwardedOutside,
);

const obscureName = reads('value name movetofolder', /^[.,;:_ -]{1,4}$|^archi[vf]\w*$/i);
/** Finds a new mailbox rule, unless it only moves mail to a folder with a readable name. */
const ruleMade: Condition = {
  only: (_, facts) =>
    !facts.all.some(({ value }) => value === 'MoveToFolder') ||
    evaluate(obscureName, facts).length > 0,
  from: says('inbox_rule_made'),
};

/** A mail of the domain of its recipient that a machine of the own network handed over. No check of the sender may have failed. */
export const sentInside: Look = (facts) => {
  const { spf, dkim, dmarc } = facts.authentication;
  if (!facts.isMail || [spf, dkim, dmarc].some((one) => /fail/.test(one?.result ?? ''))) return [];
  const recipients = hosts.domainsOf(facts.ofTools(...RECIPIENT_KEYS));
  const senders = hosts.senderDomains(facts).map(({ name }) => hosts.registered(name));
  if (senders.length === 0 || !senders.every((name) => recipients.has(name))) return [];
  return facts.all.filter(
    (fact) =>
      isOfTools(fact) && HANDED_OVER.test(fact.key) && INSIDE_ADDRESS.test(String(fact.value)),
  );
};
const RECIPIENT_KEYS = ['recipient', 'recipients', 'to', 'rcpt', 'recipientaddress', 'toaddress'];
const HANDED_OVER = /ip$|hops?$|relay|received|client|source|connector|auth$/;
const INSIDE_ADDRESS =
  /(?<![\d.])(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+(?![\d.])|\binternal (?:relay|connector)\b/i;

export const senderProven: Look = (facts) => facts.vouched('dmarc');

const secrecy = saysBeside(/\S+\.(?:pdf|docx?|xlsx?|pptx?|zip)\b/gi, 'secrecy');

const BODY = 'body text bodytext bodypreview content ocr extractedtext imagetext preview snippet';
const MONEY =
  /(?:[$€£]|\b(?:usd|eur|gbp|chf))\s?\d|\d[\d.,]*\s?(?:[$€£]|(?:usd|eur|gbp|chf|dollars?|euros?)\b)/i;
const INSIGHT =
  /insight|finding|reason|note|summary|signal|indicator|evidence|flag|observation|detail|description|verdict|analysis/;
const DOMAIN_AGE =
  /(?:domain|site|host|url|sender|destination|registration|whois)\w*age(?:days?|indays)?$|^age(?:days|indays)$|dayssinceregist\w*|\w*registereddaysago$/;

// prettier-ignore
export const MAIL_RULES = [...signs([
  ['dmarc_failed', 25, 'phishing', 'lure', 'T1566',
    'DMARC failed: the mail does not come from the domain that it names.',
    any(check('dmarc', 'fail'), check('compauth', 'fail'))],
  ['dmarc_absent', 8, 'phishing', 'sender', 'T1566',
    'No DMARC policy vouches for the domain of the sender.', check('dmarc', 'none')],
  ['signature_missing', 6, 'phishing', 'sender', 'T1566',
    'The mail has no valid signature of its domain.', check('dkim', 'none', 'fail')],
  ['name_borrowed', 45, 'phishing', 'lure', 'T1566',
    'A host imitates the name of an organisation that does not own it.', borrowedName],
  ['replies_elsewhere', 25, 'phishing', 'lure', 'T1566',
    'Replies go to a domain other than the domain of the sender.',
    { only: (_, facts) => facts.vouched('dmarc').length === 0 || ![...senderSites(facts)].every((site) => SIGNATURE_SERVICES.test(site)), from: repliesElsewhere }],
  ['young_domain', 25, 'phishing', 'lure', 'T1566', 'The domain is at most 30 days old.',
    any(
      reads(DOMAIN_AGE, { max: 30 }),
      reads(/(?:domain|site|host|url|sender|destination|cert\w*)\w*(?:age|regist\w*|creat\w*|firstseen)$|^(?:age|regist\w*)$/, /^(?:(?:only |about )?(?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten) (?:hours?|days?)|(?:[1-4]|two|three|four) weeks?|yesterday|today)\b/i),
      reads(INSIGHT, /\b(?:domain|site|host)\b.{0,40}\b(?:registered|created|regist\w*)\b.{0,20}\b(?:\d{1,2}|one|two|three|four|five|six|seven) (?:days?|hours?)\b|\b(?:newly|recently) registered domain\b|\b\d{1,2}[ -]days?[ -]old domain\b/i),
      isTrue(/(?:new|newlyregistered|young)(?:sender)?domain|newlyregistered\w*|isnewdomain|domainisnew/))],
  ['lookalike_seen', 35, 'phishing', 'lure', 'T1566', 'The tool sees a name that imitates another.',
    any(reads(INSIGHT, /\b(?:similar to|resembles|looks like|imitates|one (?:letter|character) (?:off|away))\b/i), isTrue(
      /lookalike\w*|typosquat\w*|homoglyph\w*|\w*impersonation\w*|displayname(?:spoof\w*|matchesexecutive|match\w*)|spoof(?:ed|ing)?(?:detected)?$|cousindomain/))],
  ['impersonation_seen', 15, 'phishing', 'lure', 'T1566',
    'The tool itself speaks of impersonation.', says('impersonation')],
  ['links_elsewhere', 6, 'phishing', 'sender', 'T1566.002',
    'Links lead to a domain other than the domain of the sender.', linksElsewhere],
  ['odd_link', 20, 'phishing', 'lure', 'T1566.002',
    'A link goes to a bare address or a name in punycode.', all(oddLink, isMail)],
  ['page_asks_secrets', 35, 'phishing', 'lure', 'T1566.002',
    'The page behind the link asks for a password, a card or a code.',
    any(
      secretsAsked,
      reads(INSIGHT, /\b(?:link|page|form|site)\b.{0,30}\b(?:asks?|requests?|wants|collects|harvests?)\b.{0,20}\b(?:passwords?|credentials?|card|pin|code)\b/i),
      reads(/content|sniff|html|markup|source/,
        /<(?:form|input)\b(?:[^<]|<(?!(?:form|input)\b)){0,200}\bpassword\b/i),
      isTrue(/password(?:field|input|form|prompt|box)|credential(?:form|fields?|prompt|harvest\w*|page)|(?:has|page)(?:login|signin)(?:form|page)?|(?:login|signin)(?:form|page)(?:detected|found|present)?$|phishkit\w*/))],
  ['link_in_code', 15, 'phishing', 'lure', 'T1566.002',
    'The link is in a picture that filters do not read: a QR code.',
    reads(/^qr|qrcode|qrurl|decodedqr|qrdecoded/, /:\/\//)],
  ['account_threat', 15, 'phishing', 'lure', 'T1566',
    'The text threatens the loss of an account or a mailbox.',
    all(wants('account_threat'), isMail)],
  ['sign_in_request', 15, 'phishing', 'lure', 'T1566',
    'The text asks its reader to sign in or to scan a code.',
    { only: (_, facts) => canLure(facts), from: all(wants('sign_in_request'), isMail) }],
  ['asks_for_card', 20, 'phishing', 'lure', 'T1566',
    'The text asks for the number of a card or a code.', all(says('card_request'), isMail)],
  ['lure', 10, 'phishing', 'lure', 'T1566',
    'The mail poses as a shared document, a voice message, a signature or a parcel.',
    all(says('voicemail', 'parcel_fee'), isMail)],
  ['seed_phrase', 40, 'phishing', 'finding', 'T1566', 'The text asks for the recovery words of a wallet.',
    says('seed_phrase')],
  ['asks_to_run', 35, 'malware_delivery', 'finding', 'T1204.004',
    'A text asks its reader to paste a command and run it.', says('run_this')],
  ['opener', 8, 'bec', 'sender', 'T1566',
    'The mail starts a conversation, as fraud does before it asks for money.', all(says('opener'), isMail)],
  ['call_back', 45, 'phishing', 'finding', 'T1566',
    'The mail reports a charge and asks the reader to call a number. Fraud by telephone needs no link.',
    all(
      says('call_back'), any(says('charged'), reads(BODY, MONEY)), reads(BODY, /\+?\d[\d ()-]{7,40}\d/))],
  ['device_code', 45, 'phishing', 'finding', 'T1566',
    'A device sign-in code is requested, which gives a stranger the session.',
    all(says('device_code'), any(isMail, { only: ({ key }) => MESSAGES.has(key), from: says('device_code') }, says('hidden_network', 'travel', 'new_place', 'impersonation'), twoCountries, reads(/name|title|rule|alert|description|message|detail/, /phish|suspicious|unusual|abus/i)))],
  ['extortion', 30, 'spam', 'finding', 'T1566', 'The text threatens its reader and demands money.',
    all(says('extortion'), isMail)],
  ['unsolicited', 22, 'spam', 'unwanted', 'T1566', 'The text promises a prize or a present.',
    all(says('unsolicited'), isMail)],
  ['attachment_runs', 35, 'malware_delivery', 'finding', 'T1566.001 T1204.002',
    'The attachment is of a kind that runs code when it is opened.',
    any(all(attachedProgram, isMail), isTrue('macros hasmacros macro containsmacros vba hasvba'))],
  ['double_ending', 35, 'malware_delivery', 'finding', 'T1566.001 T1204.002',
    'A file hides its type behind a second ending.',
    reads(FILE_KEYS,
      /\.(?:pdf|docx?|xlsx?|jpe?g|png|wav|mp3|txt|zip)\.[a-z]{2,5}(?![\p{L}\p{N}])/iu)],
  ['payment_change', 30, 'bec', 'payment', 'T1534',
    'Payments are to go to another account than before.',
    inMail(saysBeside(/(?<!\b(?:new|neue\w?|other) )\b(?:bank\w*|konto\w*|iban|accounts?|payment)(?: (?:details|data|account|is|are|has|have|remains?|ist|sind|bleibt|bleiben|weiterhin)){0,4} (?:unverändert|unchanged|not changed)/giu, 'payment_change'))],
  ['gift_cards', 50, 'bec', 'finding', 'T1534', 'The sender asks for gift cards and their codes.',
    inMail(says('gift_cards'))],
  ['secrecy', 25, 'bec', 'finding', 'T1534', 'The writer wants secrecy, or no calls.',
    all(secrecy, isMail)],
  ['money_and_secrecy', 25, 'bec', 'finding', 'T1534', 'The text asks for money and for secrecy.',
    all(says('money_request', 'payment_change', 'gift_cards'), secrecy, isMail)],
  ['sensitive_list', 40, 'bec', 'finding', 'T1534',
    'The sender asks for lists of staff or customers, with which fraud is made.',
    received(says('sensitive_list'))],
  ['other_person', 25, 'bec', 'finding', 'T1534',
    'The sender has the name of a known person, but another address.',
    all(
      realPerson, externalSender,
      says('money_request', 'payment_change', 'gift_cards', 'sensitive_list', 'sign_in_request'))],
  ['hides_in_mailbox', 45, 'account_takeover', '', 'T1564.008 T1114.003',
    'A rule of the mailbox hides or forwards mail.',
    any(says('inbox_rule'), forwards, all(any(says('inbox_rule_made'), reads('op operation', /^Set-Mailbox$/i)), hidingRule))],
  ['inbox_rule_made', 15, 'account_takeover', 'work', 'T1564.008',
    'A rule of the mailbox was made or changed.', ruleMade],
]), ...circumstances([
  ['locked_archive', 20, 'malware_delivery', 'finding', 'T1566.001 T1204.002',
    'The archive is locked and its password is in the mail, which keeps scanners out.',
    any(received(isTrue('encrypted passwordprotected')), says('archive_password'))],
])];
