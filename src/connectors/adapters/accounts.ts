import type { Gate } from '../../platform/net/gate.js';
import type { ActionCall, Outcome } from '../connector.port.js';
import { foundSo, marked, nothingToUndo } from './changed.js';
import { judgeTarget } from './found-target.js';

/** An account of a directory. */
export interface Account {
  readonly id: string;
  /** As people know it. */
  readonly name: string;
  /** Undefined when it is neither: its user has yet to choose a password, for example. */
  readonly enabled: boolean | undefined;
}

/** What a directory can do with accounts. */
export interface Accounts {
  /** @param gate undefined for a probe */
  find(user: string, gate: Gate | undefined): Promise<Account>;
  setEnabled(account: Account, enabled: boolean, gate: Gate): Promise<void>;
}

/**
 * An account that is as it shall be is left alone, and the result tells that: rolled back, such an action leaves it alone,
 * too. Somebody else had disabled it for a reason of their own.
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

/** Of a rollback the account that was changed: somebody else may have its name by now. */
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
