import type { Gate } from '../../platform/net/gate.js';
import type { ActionCall, Outcome } from '../connector.port.js';
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
  if (call.undoes?.['changed'] === false) {
    return { kind: 'done', message: 'Nothing to undo: the account was not changed.' };
  }
  const enabled = call.type === 'enable_user';
  const account = await accounts.find(accountIn(call), gate);
  judgeTarget(call, account.name);
  if (account.enabled !== enabled) {
    await accounts.setEnabled(account, enabled, gate);
    return doneWith(account, enabled, true);
  }
  // An earlier attempt may have changed it, of which nobody knows.
  return doneWith(account, enabled, call.attempt === 1 ? false : undefined);
}

export async function probeAccount(
  accounts: Accounts,
  call: ActionCall,
): Promise<Outcome | 'unknown'> {
  const enabled = call.type === 'enable_user';
  const account = await accounts.find(accountIn(call), undefined);
  return account.enabled === enabled ? doneWith(account, enabled) : 'unknown';
}

export function userIn({ parameters }: ActionCall): string {
  return String(parameters['user']).trim();
}

/** Of a rollback the account that was changed: somebody else may have its name by now. */
function accountIn(call: ActionCall): string {
  const id = call.undoes?.['user_id'];
  return typeof id === 'string' ? id : userIn(call);
}

/** @param changed left out when nobody knows whether it was this action that changed it */
function doneWith({ id, name }: Account, enabled: boolean, changed?: boolean): Outcome {
  const state = enabled ? 'enabled' : 'disabled';
  const message =
    changed === false
      ? `The account ${name} was ${state} already.`
      : `The account ${name} is ${state}.`;
  const data = { user_id: id, user: name, ...(changed !== undefined && { changed }) };
  return { kind: 'done', message, data };
}
