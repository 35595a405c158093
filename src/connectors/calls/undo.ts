import { shownName } from '../../platform/text.js';
import { RefusedError } from './vendor-answers.js';
import type { ActionCall, Outcome } from '../connector-type.js';
import type { Gate } from '../../platform/net/outbound-request.js';

/**
 * Stores in the outcome whether the action changed something. A rollback leaves an unchanged target alone. An accepted
 * action keeps the mark in its handle. `undefined` if unknown.
 */
export function marked(outcome: Outcome, changed: unknown): Outcome {
  if (typeof changed !== 'boolean') return outcome;
  switch (outcome.kind) {
    case 'done':
      return { ...outcome, data: { ...outcome.data, changed } };
    case 'accepted':
      return { ...outcome, handle: { ...outcome.handle, changed } };
    case 'refused':
      return outcome;
  }
}

/**
 * Outcome if the target is already in the wanted state. An earlier attempt may have changed it, so the mark is unknown
 * then.
 */
export function foundSo(outcome: Outcome, { attempt }: ActionCall): Outcome {
  return marked(outcome, attempt === 1 ? false : undefined);
}

/** Outcome of the rollback of an action that changed nothing. */
export function nothingToUndo({ undoes }: ActionCall): Outcome | undefined {
  if (undoes?.changed !== false) return undefined;
  return {
    kind: 'done',
    message: 'Nothing to undo: the action changed nothing.',
    data: { changed: false },
  };
}

/** Checks the target that a look-up found before it is changed. Throws RefusedError. */
export function judgeTarget({ mayTarget }: ActionCall, found: unknown): void {
  const name = typeof found === 'string' && found !== '' ? found : undefined;
  if (mayTarget(name)) return;
  throw new RefusedError(
    name === undefined
      ? 'The vendor returned no name for the target, so it may be a protected target.'
      : `${JSON.stringify(shownName(name))} is a protected target. Request the action with that name, so that a manager can approve it.`,
  );
}

/** Narrower than valid host names, so that no character has a meaning in paths or query languages of vendors. */
const HOST_NAME = /^[a-z0-9_]([a-z0-9._-]{0,252})$/i;

export function isHostName(text: string): boolean {
  return HOST_NAME.test(text);
}

/** Whether the host `found` has this name. A name without a domain matches in any domain. */
export function isNamed(found: unknown, name: string): boolean {
  if (typeof found !== 'string') return false;
  const [one, other] = [found.toLowerCase(), name.toLowerCase()];
  return one === other || (!other.includes('.') && one.startsWith(`${other}.`));
}

/** An account of a directory. */
export interface Account {
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** `undefined` if neither, for example if the user has yet to choose a password. */
  readonly enabled: boolean | undefined;
}

/** Operations on accounts of a directory. */
export interface Accounts {
  /** @param gate undefined for a probe */
  find(user: string, gate: Gate | undefined): Promise<Account>;
  setEnabled(account: Account, enabled: boolean, gate: Gate): Promise<void>;
}

/**
 * Leaves an account alone that is already in the wanted state, and reports that. The rollback of such an action leaves
 * it alone, too, because somebody else had disabled the account for another reason.
 */
export async function setAccount(
  accounts: Accounts,
  call: ActionCall,
  gate: Gate,
): Promise<Outcome> {
  const unchanged = nothingToUndo(call);
  if (unchanged) return unchanged;
  const enabled = call.type === 'enable_user';
  const account = await accounts.find(accountIn(call), gate);
  judgeTarget(call, account.name);
  if (account.enabled === enabled)
    return foundSo(doneWith(account, `was ${stateOf(enabled)} already`), call);
  await accounts.setEnabled(account, enabled, gate);
  return marked(doneWith(account, `is ${stateOf(enabled)}`), true);
}

export async function probeAccount(
  accounts: Accounts,
  call: ActionCall,
): Promise<Outcome | 'unknown'> {
  const enabled = call.type === 'enable_user';
  const account = await accounts.find(accountIn(call), undefined);
  return account.enabled === enabled ? doneWith(account, `is ${stateOf(enabled)}`) : 'unknown';
}

export function userIn({ parameters }: ActionCall): string {
  return String(parameters['user']).trim();
}

/** For a rollback: the id of the changed account, because another account may have its name now. */
function accountIn(call: ActionCall): string {
  const id = call.undoes?.['user_id'];
  return typeof id === 'string' ? id : userIn(call);
}

const stateOf = (enabled: boolean): string => (enabled ? 'enabled' : 'disabled');

const doneWith = ({ id, name }: Account, state: string): Outcome => ({
  kind: 'done',
  message: `The account ${name} ${state}.`,
  data: { user_id: id, user: name },
});
