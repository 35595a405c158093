import { Lexicon } from '../words.js';
import { ACCOUNT_SIGNS } from './account-signs.js';
import { ENDPOINT_SIGNS, WEB_SIGNS } from './endpoint-signs.js';
import { MAIL_SIGNS, ORDER_SIGNS } from './mail-signs.js';

/**
 * What texts say that matters to an analyst, whoever wrote them and under whatever name they come: phrases, with `|` between
 * them. `..` is up to eight other words, `*` any ending. A sign only ever counts against an event: a text can lie, and nobody
 * lies to look guilty.
 */
export const SIGN_PHRASES = {
  ...MAIL_SIGNS,
  ...ENDPOINT_SIGNS,
  ...ACCOUNT_SIGNS,
  ...ORDER_SIGNS,
  ...WEB_SIGNS,
} as const satisfies Readonly<Record<string, string>>;

export type Sign = keyof typeof SIGN_PHRASES;

export const SIGNS = new Lexicon<Sign>(SIGN_PHRASES);
