import type { Fact } from './fact.js';
import type { Facts } from './facts.js';
import { borrowedNames, isFromInside, linkedHosts, replyDomains } from './hosts.js';
import { MESSAGES } from './prose.js';
import { byTools, byToolsAtLeast, type Look } from './rule.js';
import { MAIL_SIGNS, ORDER_SIGNS } from './signs/mail-signs.js';
import type { Sign } from './signs/signs.js';
import { wordsOf } from './words.js';
import { vouched } from './authentication.js';

const REQUESTS = Object.keys({ ...MAIL_SIGNS, ...ORDER_SIGNS }) as Sign[];
/** Words by which people want something, of which the signs know only what is worst. */
const WANTS = new Set(
  (
    'please pls kindly send reply respond click open call phone pay buy purchase confirm verify approve download install ' +
    'enable run paste forward share upload update urgent asap code link attached attachment password passwords login bank ' +
    'money cash euro euros dollars usd eur gbp chf iban invoice salary whatsapp telegram signal text scan visit fill'
  ).split(' '),
);
/** Of a text in another language the rules cannot say what it wants. In English a quarter of the words are such as these. */
const ENGLISH = new Set(
  (
    'a about all am an and are as at be but by can do for from had has have he her hi his i if in is it me my new no not of ' +
    'on or our out see she so thanks that the their them there they this to up us was we were what when will with you your'
  ).split(' '),
);
const LEAST_ENGLISH = 0.25;
const LONGEST_TEXT = 2_000;
const ATTACHED = /attach|filename|(?:^|\/)files?(?:\/|$)|qr|ocr|macro/;

const knownSender: readonly Look[] = [
  byTools(['knownsender', 'senderknown', 'vendorknown', 'knownvendor'], /^(?:true|yes)$/i),
  byToolsAtLeast(10, 'priorfromsender365d', 'priormessages90d', 'priormessages', 'priorfromsender'),
];

/** Nobody can be robbed by a mail that wants nothing. Any word of a wish, link or file ends that, so adding text only ever takes it away. */
export const nothingAsked: Look = {
  at: [
    'short English mails from inside or of known senders whose SPF, DKIM and DMARC the gateway saw pass',
    `without attachments, addresses on the web, numbers, ${[...WANTS].join(', ')}`,
  ].join(', '),
  find: (facts) => {
    const vouchers = vouched(facts, 'dmarc');
    const signatures = facts.authentication.dkim ?? [];
    const isProven =
      vouched(facts, 'spf').length > 0 &&
      vouched(facts, 'dkim').length > 0 &&
      signatures.every(({ result }) => result === 'pass');
    const isKnown = isFromInside(facts) || knownSender.some((look) => look.find(facts).length > 0);
    return isProven && isKnown && isCalm(facts) ? vouchers : [];
  },
};

function isCalm(facts: Facts): boolean {
  const messages = facts.all.filter(({ key, value }) => MESSAGES.has(key) && value !== '');
  return (
    !facts.cut &&
    facts.withInvisible.length === 0 &&
    facts.saying(...REQUESTS).length === 0 &&
    linkedHosts(facts).length + replyDomains(facts).length + borrowedNames(facts).length === 0 &&
    !facts.all.some(({ path, value }) => ATTACHED.test(path) && value !== '') &&
    messages.some(({ key }) => !key.startsWith('subj')) &&
    isPlainTalk(messages)
  );
}

function isPlainTalk(messages: readonly Fact[]): boolean {
  const text = messages.map(({ value }) => value).join(' ');
  // An address without `http://` is one, too; and so many digits are a telephone, an account or a sum.
  if (
    text.length > LONGEST_TEXT ||
    /www\.|\w\.\w{2,}\/|\d{5,}|[€$£@<>]|[^\x20-\x7e\s–—‘’“”…]/u.test(text)
  ) {
    return false;
  }
  const words = wordsOf(text);
  const english = words.filter((word) => ENGLISH.has(word)).length;
  return english >= words.length * LEAST_ENGLISH && !words.some((word) => WANTS.has(word));
}
