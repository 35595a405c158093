import { shownName } from '../../platform/text.js';
import {
  type ActionCall,
  type ActionDefinition,
  done,
  marked,
  type Outcome,
} from '../connector-type.js';
import { RefusedError } from './vendor-answers.js';

export function judgeTarget({ mayTarget }: ActionCall, found: unknown): void {
  const name = typeof found === 'string' && found !== '' ? found : undefined;
  if (mayTarget(name)) return;
  const message = name
    ? `${JSON.stringify(shownName(name))} is a protected target. Request the action with that name, so that a manager can approve it.`
    : 'The vendor returned no name for the target, so it may be a protected target.';
  throw new RefusedError(message);
}

interface StateChange<Vendor, Target extends { readonly name: unknown }> {
  find(vendor: Vendor, call: ActionCall): Promise<Target>;
  reached(vendor: Vendor, target: Target, call: ActionCall): Promise<Outcome | undefined>;
  change(vendor: Vendor, target: Target, call: ActionCall): Promise<Outcome>;
}

/** Does not change a target that already has the wanted state. A rollback of such an action changes nothing either. */
export function stateAction<Vendor, Target extends { readonly name: unknown }>(
  state: StateChange<Vendor, Target>,
): ActionDefinition<Vendor> {
  const ask = async (vendor: Vendor, call: ActionCall): Promise<Outcome | 'unknown'> =>
    (await state.reached(vendor, await state.find(vendor, call), call)) ?? 'unknown';
  return {
    idempotent: true,
    send: async (vendor, call) => {
      if (call.undoes?.['changed'] === false) return NOTHING_TO_UNDO;
      const target = await state.find(vendor, call);
      judgeTarget(call, target.name);
      const already = await state.reached(vendor, target, call);
      // On a later attempt, `changed` is unknown: an earlier attempt may have changed the target.
      if (already) return marked(already, call.attempt === 1 ? false : undefined);
      try {
        return marked(await state.change(vendor, target, call), true);
      } catch (error) {
        // The cause may be another request, or an earlier attempt whose response was lost.
        if (!(error instanceof RefusedError)) throw error;
        const now = await ask(vendor, call).catch(() => 'unknown' as const);
        if (now !== 'unknown') return now;
        throw error;
      }
    },
    ask,
  };
}

const NOTHING_TO_UNDO = done('Nothing to undo: the action changed nothing.', { changed: false });

/** Returns the parameter `host_id`. For a rollback: the changed host, because another host may have its name now. */
export function hostIn({ parameters, undoes }: ActionCall, idOfUndone: string): string {
  return String(undoes?.[idOfUndone] ?? parameters['host_id']);
}

/** Stricter than valid host names, so that no character has a meaning in paths or query languages of vendors. */
const HOST_NAME = /^[a-z0-9_]([a-z0-9._-]{0,252})$/i;

export const isHostName = (text: string): boolean => HOST_NAME.test(text);

export function isNamed(found: unknown, name: string): boolean {
  if (typeof found !== 'string') return false;
  const [one, other] = [found.toLowerCase(), name.toLowerCase()];
  return one === other || (!other.includes('.') && one.startsWith(`${other}.`));
}

export interface Account {
  readonly id: string;
  readonly name: string;
  /** `undefined`: neither enabled nor disabled. For example, the user has not chosen a password yet. */
  readonly enabled: boolean | undefined;
}

export function accountAction<Vendor>(accounts: {
  find(vendor: Vendor, user: string): Promise<Account>;
  setEnabled(vendor: Vendor, account: Account, enabled: boolean): Promise<void>;
}): ActionDefinition<Vendor> {
  return stateAction<Vendor, Account>({
    find: (vendor, call) => {
      const id = call.undoes?.['user_id'];
      return accounts.find(vendor, typeof id === 'string' ? id : userIn(call));
    },
    reached: async (_, account, call) =>
      account.enabled === isEnabling(call) ? accountOutcome(account, call) : undefined,
    change: async (vendor, account, call) => {
      await accounts.setEnabled(vendor, account, isEnabling(call));
      return accountOutcome(account, call);
    },
  });
}

export const userIn = ({ parameters }: ActionCall): string => String(parameters['user']).trim();

const isEnabling = ({ type }: ActionCall): boolean => type === 'enable_user';

function accountOutcome({ id, name }: Account, call: ActionCall): Outcome {
  const state = isEnabling(call) ? 'enabled' : 'disabled';
  return done(`The account ${name} is ${state}.`, { user_id: id, user: name });
}
