import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { readIpAddress } from '../platform/addresses/ip-address.js';
import { type ActionType, type ActionTypeName, actionType, undoneBy } from './action-types.js';
import { normalForm } from './protected-targets/normal-form.js';

/** They change nothing, or say something new each time. */
const REPEATABLE: ReadonlySet<string> = new Set<ActionType['category']>([
  'intelligence',
  'ticketing',
  'notification',
]);

/**
 * Identifies the target of an action, the same for every spelling of it: the target parameter in its normal form, or all
 * parameters except the reason. Undefined for look-ups, tickets and notifications, which may be repeated.
 */
export function targetHash(
  name: ActionTypeName,
  parameters: Readonly<Record<string, unknown>>,
): Buffer | undefined {
  const { category, target, parameters: known } = actionType(name);
  if (REPEATABLE.has(category)) return undefined;
  const named = target ? [target.parameter] : known.map((parameter) => parameter.name);
  const values = named
    .filter((parameter) => parameter !== 'reason' && Object.hasOwn(parameters, parameter))
    .map((parameter) => [parameter, formOf(parameter, String(parameters[parameter]))]);
  return createHash('sha256').update(JSON.stringify(values)).digest();
}

/** The type whose effect is the opposite, in either direction. */
export function oppositeOf(name: ActionTypeName): ActionTypeName | undefined {
  return actionType(name).inverse ?? undoneBy(name);
}

/** Two mails may have Message-IDs that differ in their case alone. */
function formOf(parameter: string, value: string): string {
  if (parameter !== 'message_id') return sameForm(value);
  return value.trim().replace(/^<(.*)>$/s, '$1');
}

function sameForm(value: string): string {
  const address = readIpAddress(value.trim())?.address.text;
  if (address === undefined) return normalForm(value);
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : address;
}
