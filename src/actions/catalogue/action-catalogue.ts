import { type ActionParameter, parametersOf } from './action-parameters.js';
import type { ActionTypeName } from './action-types.js';
import type { TargetKind } from './protected-targets/protected-targets.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';

export interface ActionType {
  readonly name: ActionTypeName;
  readonly description: string;
  readonly category:
    'email' | 'endpoint' | 'identity' | 'network' | 'intelligence' | 'ticketing' | 'notification';
  readonly parameters: readonly ActionParameter[];
  readonly defaultLevel?: Exclude<ApprovalLevel, 'none'>;
  readonly inverse?: ActionTypeName;
  /** The parameter that holds the target, and what it names. */
  readonly target?: { readonly parameter: string; readonly kind: TargetKind };
}

type Details = Omit<ActionType, 'name' | 'parameters' | 'category'>;

/** The one description of every action: validation, policy, the API's list of types and its documentation read it. */
const CATALOGUE = {
  ...inCategory('email', {
    quarantine_email: {
      description: 'Moves an email out of its mailbox into quarantine.',
      inverse: 'release_email',
    },
    release_email: {
      description: 'Returns a quarantined email to its mailbox.',
      defaultLevel: 'analyst',
    },
    delete_email: { description: 'Deletes an email for good.', defaultLevel: 'senior' },
    block_sender: {
      description: 'Blocks mail from a sender.',
      inverse: 'unblock_sender',
      target: { parameter: 'sender', kind: 'sender' },
    },
    unblock_sender: {
      description: 'Lets mail from a sender in again.',
      defaultLevel: 'analyst',
      target: { parameter: 'sender', kind: 'sender' },
    },
  }),
  ...inCategory('endpoint', {
    isolate_host: {
      description: 'Cuts a host off the network.',
      defaultLevel: 'senior',
      inverse: 'unisolate_host',
      target: { parameter: 'host_id', kind: 'host' },
    },
    unisolate_host: {
      description: 'Lets an isolated host onto the network again.',
      defaultLevel: 'senior',
      target: { parameter: 'host_id', kind: 'host' },
    },
    scan_host: {
      description: 'Starts a malware scan on a host.',
      target: { parameter: 'host_id', kind: 'host' },
    },
  }),
  ...inCategory('identity', {
    disable_user: {
      description: "Disables a user's account.",
      defaultLevel: 'senior',
      inverse: 'enable_user',
      target: { parameter: 'user', kind: 'user' },
    },
    enable_user: {
      description: "Enables a user's account again.",
      defaultLevel: 'senior',
      target: { parameter: 'user', kind: 'user' },
    },
    revoke_sessions: {
      description: 'Ends all sessions of a user.',
      defaultLevel: 'analyst',
      target: { parameter: 'user', kind: 'user' },
    },
    reset_password: {
      description: 'Makes a user choose a new password.',
      defaultLevel: 'senior',
      target: { parameter: 'user', kind: 'user' },
    },
  }),
  ...inCategory('network', {
    block_ip: {
      description: 'Blocks an address.',
      defaultLevel: 'analyst',
      inverse: 'unblock_ip',
      target: { parameter: 'ip', kind: 'ip' },
    },
    unblock_ip: {
      description: 'Lifts the block of an address.',
      defaultLevel: 'analyst',
      target: { parameter: 'ip', kind: 'ip' },
    },
    block_domain: {
      description: 'Blocks a domain.',
      defaultLevel: 'analyst',
      inverse: 'unblock_domain',
      target: { parameter: 'domain', kind: 'zone' },
    },
    unblock_domain: {
      description: 'Lifts the block of a domain.',
      defaultLevel: 'analyst',
      target: { parameter: 'domain', kind: 'zone' },
    },
  }),
  ...inCategory('intelligence', {
    lookup_url: {
      description: 'Asks what is known of a URL.',
      target: { parameter: 'url', kind: 'url' },
    },
    lookup_domain: {
      description: 'Asks what is known of a domain.',
      target: { parameter: 'domain', kind: 'domain' },
    },
    lookup_ip: {
      description: 'Asks what is known of an address.',
      target: { parameter: 'ip', kind: 'ip' },
    },
    lookup_hash: { description: 'Asks what is known of a file, by its hash.' },
  }),
  ...inCategory('ticketing', {
    create_ticket: { description: 'Opens a ticket.' },
  }),
  ...inCategory('notification', {
    notify_user: { description: 'Sends a message to a person.' },
    notify_channel: { description: 'Posts a message to a channel.' },
  }),
} satisfies Record<ActionTypeName, ActionType>;

function inCategory<const Name extends ActionTypeName>(
  category: ActionType['category'],
  types: Record<Name, Details>,
): Record<Name, ActionType> {
  const entries = Object.entries(types) as [Name, Details][];
  const described = entries.map(([name, details]) => {
    const type: ActionType = { name, category, parameters: parametersOf(name), ...details };
    return [name, type] as const;
  });
  return Object.fromEntries(described) as Record<Name, ActionType>;
}

export function actionType(name: ActionTypeName): ActionType {
  return CATALOGUE[name];
}

export function actionTypes(): readonly ActionType[] {
  return Object.values(CATALOGUE);
}

/** The types that something can undo; the others answer `rollback_not_supported`. */
export function inverseOf(name: ActionTypeName): ActionTypeName | undefined {
  return actionType(name).inverse;
}
