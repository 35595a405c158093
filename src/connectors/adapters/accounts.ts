import type { Gate } from '../../platform/net/outbound-request.js';
import type { ActionCall, Outcome } from '../connector.port.js';
import { foundSo, marked, nothingToUndo, judgeTarget } from './targets.js';

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
