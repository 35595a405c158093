import { authenticated, type Method } from '../authentication.js';
import type { AuthenticationResult } from '../../../evidence/authentication-results.js';
import type { Fact } from '../fact.js';
import type { Host } from '../hosts.js';
import { keys, type Look } from '../rule.js';

const MAIL_KEYS = keys(`
  messageid sender subject recipient recipients from mailfrom objet subj rcpt fromdisplay spf
  dmarc`);

/** Whether there is a mail at all: what texts ask for means little in the log of a machine. It is no sign, so it names no words. */
export const isMail: Look = {
  at: `values of ${MAIL_KEYS.join(', ')}, or checks of a sender`,
  find: (facts) => [
    ...facts.named(...MAIL_KEYS).filter(({ value }) => /\S/.test(String(value))),
    ...facts.authentication.pointers.flatMap((pointer) => facts.at(pointer) ?? []),
  ],
};

export const FILE_KEYS = keys(`
  name filename file attachment attachments attachmentnames files path listing contains
  contents members entries archivecontents inner innerfile innerfiles filenames attachmentname`);

export const checked = (method: Method, ...ends: readonly AuthenticationResult[]): Look => ({
  at: `results of ${method} that are ${ends.join(' or ')}`,
  find: (facts) => authenticated(facts, method, ends),
});

/** Where the hosts stand, each place once, with the first host that it names. */
export function placesOf(hosts: readonly Host[]): readonly Fact[] {
  const places = new Map<string, Fact>();
  for (const { name, fact } of hosts) {
    if (!places.has(fact.pointer)) places.set(fact.pointer, { ...fact, words: name });
  }
  return [...places.values()];
}
