import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { readIpAddress } from '../platform/addresses/ip-address.js';
import { type ActionType, actionType, type ActionTypeName, undoneBy } from './action-types.js';
import { bareMessageId, mailAddressIn } from './parameter-formats.js';
import { normalForm } from './target-forms.js';

/** Actions of these categories may be repeated. */
const REPEATABLE: ReadonlySet<string> = new Set<ActionType['category']>([
  'intelligence',
  'ticketing',
  'notification',
]);

/**
 * Identifies the target of an action, equal for all spellings: the target parameter in normal form, or all parameters
 * except the reason. `undefined` for look-ups, tickets and notifications. The hash is stored with the action: whoever changes it
 * hides earlier actions from the search for twins, for ACTION_REPEAT_MINUTES.
 *
 * @param mailSender sender that an action on a mail is bound to: mails of two senders with one Message-ID are two targets
 */
export function targetHash(
  name: ActionTypeName,
  parameters: Readonly<Record<string, unknown>>,
  mailSender?: string,
): Buffer | undefined {
  const { category, target, parameters: known } = actionType(name);
  if (REPEATABLE.has(category)) return undefined;
  const named = target ? [target.parameter] : known.map((parameter) => parameter.name);
  const values = named
    .filter((parameter) => parameter !== 'reason' && Object.hasOwn(parameters, parameter))
    .map((parameter) => [parameter, formOf(parameter, String(parameters[parameter]))]);
  if (mailSender !== undefined) {
    values.push(['the sender of the mail', mailAddressIn(mailSender) ?? normalForm(mailSender)]);
  }
  return createHash('sha256').update(JSON.stringify(values)).digest();
}

/** The type with the opposite effect. */
export function oppositeOf(name: ActionTypeName): ActionTypeName | undefined {
  return actionType(name).inverse ?? undoneBy(name);
}

function formOf(parameter: string, value: string): string {
  return parameter === 'message_id' ? bareMessageId(value) : sameForm(value);
}

function sameForm(value: string): string {
  const address = readIpAddress(value.trim())?.address.text;
  if (address === undefined) return normalForm(value);
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : address;
}
