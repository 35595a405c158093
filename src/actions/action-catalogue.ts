import type { ActionTypeName } from '../common/action-types.js';
import type { ApprovalLevel } from '../auth/principal.js';

export interface ActionParameter {
  readonly name: string;
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly values?: readonly string[];
}

/** What of an action's parameters names something that a site may protect. */
export type TargetKind = 'host' | 'user' | 'sender' | 'domain' | 'ip';

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

const required = (name: string): ActionParameter => ({ name, type: 'string', required: true });
const optional = (name: string): ActionParameter => ({ name, type: 'string', required: false });

const REASON = optional('reason');
const MESSAGE = [required('message_id'), optional('recipient'), REASON];

/** The one description of every action: validation, policy, the API's list of types and its documentation read it. */
const CATALOGUE = {
  ...inCategory('email', {
    quarantine_email: [
      MESSAGE,
      {
        description: 'Moves an email out of its mailbox into quarantine.',
        inverse: 'release_email',
      },
    ],
    release_email: [
      MESSAGE,
      { description: 'Returns a quarantined email to its mailbox.', defaultLevel: 'analyst' },
    ],
    delete_email: [MESSAGE, { description: 'Deletes an email for good.', defaultLevel: 'senior' }],
    block_sender: [
      [required('sender'), REASON],
      {
        description: 'Blocks mail from a sender.',
        inverse: 'unblock_sender',
        target: { parameter: 'sender', kind: 'sender' },
      },
    ],
    unblock_sender: [
      [required('sender'), REASON],
      {
        description: 'Lets mail from a sender in again.',
        defaultLevel: 'analyst',
        target: { parameter: 'sender', kind: 'sender' },
      },
    ],
  }),
  ...inCategory('endpoint', {
    isolate_host: [
      [required('host_id'), REASON],
      {
        description: 'Cuts a host off the network.',
        defaultLevel: 'senior',
        inverse: 'unisolate_host',
        target: { parameter: 'host_id', kind: 'host' },
      },
    ],
    unisolate_host: [
      [required('host_id'), REASON],
      {
        description: 'Lets an isolated host onto the network again.',
        defaultLevel: 'senior',
        target: { parameter: 'host_id', kind: 'host' },
      },
    ],
    scan_host: [
      [required('host_id'), { ...optional('scan_type'), values: ['quick', 'full'] }],
      {
        description: 'Starts a malware scan on a host.',
        target: { parameter: 'host_id', kind: 'host' },
      },
    ],
  }),
  ...inCategory('identity', {
    disable_user: [
      [required('user'), REASON],
      {
        description: "Disables a user's account.",
        defaultLevel: 'senior',
        inverse: 'enable_user',
        target: { parameter: 'user', kind: 'user' },
      },
    ],
    enable_user: [
      [required('user'), REASON],
      {
        description: "Enables a user's account again.",
        defaultLevel: 'senior',
        target: { parameter: 'user', kind: 'user' },
      },
    ],
    revoke_sessions: [
      [required('user'), REASON],
      {
        description: 'Ends all sessions of a user.',
        defaultLevel: 'analyst',
        target: { parameter: 'user', kind: 'user' },
      },
    ],
    reset_password: [
      [required('user'), REASON],
      {
        description: 'Makes a user choose a new password.',
        defaultLevel: 'senior',
        target: { parameter: 'user', kind: 'user' },
      },
    ],
  }),
  ...inCategory('network', {
    block_ip: [
      [required('ip'), { name: 'duration_minutes', type: 'integer', required: false }, REASON],
      {
        description: 'Blocks an address.',
        defaultLevel: 'analyst',
        inverse: 'unblock_ip',
        target: { parameter: 'ip', kind: 'ip' },
      },
    ],
    unblock_ip: [
      [required('ip'), REASON],
      {
        description: 'Lifts the block of an address.',
        defaultLevel: 'analyst',
        target: { parameter: 'ip', kind: 'ip' },
      },
    ],
    block_domain: [
      [required('domain'), REASON],
      {
        description: 'Blocks a domain.',
        defaultLevel: 'analyst',
        inverse: 'unblock_domain',
        target: { parameter: 'domain', kind: 'domain' },
      },
    ],
    unblock_domain: [
      [required('domain'), REASON],
      {
        description: 'Lifts the block of a domain.',
        defaultLevel: 'analyst',
        target: { parameter: 'domain', kind: 'domain' },
      },
    ],
  }),
  ...inCategory('intelligence', {
    lookup_url: [[required('url')], { description: 'Asks what is known of a URL.' }],
    lookup_domain: [[required('domain')], { description: 'Asks what is known of a domain.' }],
    lookup_ip: [[required('ip')], { description: 'Asks what is known of an address.' }],
    lookup_hash: [
      [required('hash')],
      { description: 'Asks what is known of a file, by its hash.' },
    ],
  }),
  ...inCategory('ticketing', {
    create_ticket: [
      [required('title'), optional('description'), optional('priority')],
      { description: 'Opens a ticket.' },
    ],
  }),
  ...inCategory('notification', {
    notify_user: [
      [required('recipient'), required('subject'), required('message')],
      { description: 'Sends a message to a person.' },
    ],
    notify_channel: [
      [required('channel'), required('message')],
      { description: 'Posts a message to a channel.' },
    ],
  }),
} satisfies Record<ActionTypeName, ActionType>;

function inCategory<const Name extends ActionTypeName>(
  category: ActionType['category'],
  types: Record<Name, readonly [readonly ActionParameter[], Details]>,
): Record<Name, ActionType> {
  const entries = Object.entries(types) as [Name, readonly [readonly ActionParameter[], Details]][];
  const described = entries.map(([name, [parameters, details]]) => {
    const type: ActionType = { name, category, parameters, ...details };
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
