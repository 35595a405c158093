import { createHash } from 'node:crypto';
import { OWN_PLACES } from '../../evidence/own-places.js';
import { DOUBTS } from './doubts.js';
import type { Rule } from './rule.js';
import { SCALE } from './scale.js';
import { ACCOUNT_RULES } from './table/account-rules.js';
import { ATTACHMENT_RULES } from './table/attachment-rules.js';
import { CONTEXT_RULES } from './table/context-rules.js';
import { EXECUTION_RULES } from './table/execution-rules.js';
import { FRAUD_RULES } from './table/fraud-rules.js';
import { GENERIC_RULES } from './table/generic-rules.js';
import { GUESSING_RULES } from './table/guessing-rules.js';
import { INTRUSION_RULES } from './table/intrusion-rules.js';
import { LINK_RULES } from './table/link-rules.js';
import { LURE_RULES } from './table/lure-rules.js';
import { MALWARE_RULES } from './table/malware-rules.js';
import { NETWORK_RULES } from './table/network-rules.js';
import { OPERATIONS_RULES } from './table/operations-rules.js';
import { REASSURING_MAIL_RULES } from './table/reassuring-mail-rules.js';
import { REASSURING_RULES } from './table/reassuring-rules.js';
import { SENDER_RULES } from './table/sender-rules.js';
import { SESSION_RULES } from './table/session-rules.js';
import { TOOL_WORD_RULES } from './table/tool-word-rules.js';

/** Every rule that there is. The groups only order them for readers: each event is held against all. */
export const RULES: readonly Rule[] = [
  ...TOOL_WORD_RULES,
  ...SENDER_RULES,
  ...LINK_RULES,
  ...LURE_RULES,
  ...ATTACHMENT_RULES,
  ...FRAUD_RULES,
  ...MALWARE_RULES,
  ...EXECUTION_RULES,
  ...INTRUSION_RULES,
  ...NETWORK_RULES,
  ...GUESSING_RULES,
  ...SESSION_RULES,
  ...ACCOUNT_RULES,
  ...GENERIC_RULES,
  ...REASSURING_MAIL_RULES,
  ...REASSURING_RULES,
  ...OPERATIONS_RULES,
  ...CONTEXT_RULES,
];

/** SHA-256 in hex of what the scorer goes by: a changed rule, phrase, threshold or list of places is another scorer. */
export const RULES_HASH = createHash('sha256')
  .update(
    JSON.stringify([
      SCALE,
      DOUBTS,
      OWN_PLACES,
      RULES.map(({ look, ...rule }) => ({ ...rule, at: look.at })),
    ]),
  )
  .digest('hex');
