import { authenticated, type Method } from '../authentication.js';
import type { Fact } from '../facts.js';
import { type Look, reads } from '../rule.js';

/** Whether there is a mail at all: what texts ask for means little in the log of a machine. */
export const isMail = reads(
  [
    'messageid',
    'sender',
    'subject',
    'recipient',
    'recipients',
    'from',
    'mailfrom',
    'objet',
    'subj',
    'rcpt',
    'fromdisplay',
    'spf',
    'dmarc',
  ],
  /\S/,
);

export const FILE_KEYS = [
  'name',
  'filename',
  'file',
  'attachment',
  'attachments',
  'attachmentnames',
  'files',
  'path',
  'listing',
] as const;

export const checked = (method: Method, ...ends: readonly string[]): Look => ({
  at: `results of ${method} that are ${ends.join(' or ')}`,
  find: (facts) => authenticated(facts, method, ends),
});

export const unique = (facts: readonly Fact[]): readonly Fact[] => [...new Set(facts)];
