import type { ApprovalLevel } from '../platform/access/roles.js';
import type { ActionParameter, ParameterFormat } from './parameters.js';
import type { TargetKind } from './protected-targets.js';

interface Description {
  readonly description: string;
  readonly category:
    'email' | 'endpoint' | 'identity' | 'network' | 'intelligence' | 'ticketing' | 'notification';
  /** Requests and connector templates are validated against them. */
  readonly parameters: readonly ActionParameter[];
  /** Default approval level; without one the action runs without approval. */
  readonly defaultLevel?: Exclude<ApprovalLevel, 'none'>;
  /** Name of the type that undoes this action. */
  readonly inverse?: string;
  /** The effect does not last: a later login, for example, needs the action again. */
  readonly momentary?: true;
  /** Parameter with the target, and the kind of target. */
  readonly target?: { readonly parameter: string; readonly kind: TargetKind };
}

const string = (name: string, required: boolean, format?: ParameterFormat): ActionParameter => ({
  name,
  type: 'string',
  required,
  format,
});
const required = (name: string, format?: ParameterFormat) => string(name, true, format);
const optional = (name: string) => string(name, false);
const prose = (parameter: ActionParameter) => ({ ...parameter, forPeople: true as const });

const REASON = optional('reason');
const IP = required('ip', 'ip');
const DOMAIN = required('domain', 'domain');

const ON_EMAIL = {
  category: 'email',
  parameters: [required('message_id'), optional('recipient'), REASON],
} as const;
const ON_SENDER = {
  category: 'email',
  parameters: [required('sender', 'email'), REASON],
  target: { parameter: 'sender', kind: 'sender' },
} as const;
const ON_HOST = {
  category: 'endpoint',
  parameters: [required('host_id'), REASON],
  target: { parameter: 'host_id', kind: 'host' },
} as const;
const ON_USER = {
  category: 'identity',
  parameters: [required('user'), REASON],
  target: { parameter: 'user', kind: 'user' },
} as const;
const ON_IP = {
  category: 'network',
  parameters: [IP, REASON],
  target: { parameter: 'ip', kind: 'ip' },
} as const;
const ON_DOMAIN = {
  category: 'network',
  parameters: [DOMAIN, REASON],
  target: { parameter: 'domain', kind: 'zone' },
} as const;

/**
 * All response actions. The API, validation, approval policy and documentation read them from here. A new action needs
 * only an entry (tests and documents: see CONTRIBUTING).
 */
const CATALOGUE = {
  quarantine_email: {
    ...ON_EMAIL,
    description: 'Moves an email out of its mailbox into quarantine.',
    inverse: 'release_email',
  },
  release_email: {
    ...ON_EMAIL,
    description: 'Returns a quarantined email to its mailbox.',
    defaultLevel: 'analyst',
  },
  delete_email: {
    ...ON_EMAIL,
    description: 'Deletes an email permanently.',
    defaultLevel: 'senior',
  },
  block_sender: {
    ...ON_SENDER,
    description: 'Blocks mail from a sender.',
    inverse: 'unblock_sender',
  },
  unblock_sender: {
    ...ON_SENDER,
    description: 'Unblocks mail from a sender.',
    defaultLevel: 'analyst',
  },
  isolate_host: {
    ...ON_HOST,
    description: 'Cuts a host off the network.',
    defaultLevel: 'senior',
    inverse: 'unisolate_host',
  },
  unisolate_host: {
    ...ON_HOST,
    description: 'Reconnects an isolated host to the network.',
    defaultLevel: 'senior',
  },
  scan_host: {
    momentary: true,
    ...ON_HOST,
    description: 'Starts a malware scan on a host.',
    parameters: [required('host_id'), { ...optional('scan_type'), values: ['quick', 'full'] }],
  },
  disable_user: {
    ...ON_USER,
    description: "Disables a user's account.",
    defaultLevel: 'senior',
    inverse: 'enable_user',
  },
  enable_user: {
    ...ON_USER,
    description: "Enables a user's account again.",
    defaultLevel: 'senior',
  },
  revoke_sessions: {
    momentary: true,
    ...ON_USER,
    description: 'Ends all sessions of a user.',
    defaultLevel: 'analyst',
  },
  reset_password: {
    momentary: true,
    ...ON_USER,
    description: 'Forces a user to choose a new password.',
    defaultLevel: 'senior',
  },
  block_ip: {
    ...ON_IP,
    description: 'Blocks an address.',
    parameters: [IP, { name: 'duration_minutes', type: 'integer', required: false }, REASON],
    defaultLevel: 'analyst',
    inverse: 'unblock_ip',
  },
  unblock_ip: {
    ...ON_IP,
    description: 'Unblocks an address.',
    defaultLevel: 'analyst',
  },
  block_domain: {
    ...ON_DOMAIN,
    description: 'Blocks a domain.',
    defaultLevel: 'analyst',
    inverse: 'unblock_domain',
  },
  unblock_domain: {
    ...ON_DOMAIN,
    description: 'Unblocks a domain.',
    defaultLevel: 'analyst',
  },
  lookup_url: {
    category: 'intelligence',
    description: 'Looks up the reputation of a URL.',
    parameters: [required('url', 'url')],
    target: { parameter: 'url', kind: 'url' },
  },
  lookup_domain: {
    category: 'intelligence',
    description: 'Looks up the reputation of a domain.',
    parameters: [DOMAIN],
    target: { parameter: 'domain', kind: 'domain' },
  },
  lookup_ip: {
    category: 'intelligence',
    description: 'Looks up the reputation of an address.',
    parameters: [IP],
    target: { parameter: 'ip', kind: 'ip' },
  },
  lookup_hash: {
    category: 'intelligence',
    description: 'Looks up the reputation of a file by its hash.',
    parameters: [required('hash')],
  },
  create_ticket: {
    category: 'ticketing',
    description: 'Opens a ticket.',
    parameters: [prose(required('title')), prose(optional('description')), optional('priority')],
  },
  notify_user: {
    category: 'notification',
    description: 'Sends a message to a person.',
    parameters: [required('recipient'), prose(required('subject')), prose(required('message'))],
  },
  notify_channel: {
    category: 'notification',
    description: 'Posts a message to a channel.',
    parameters: [required('channel'), prose(required('message'))],
  },
} as const satisfies Record<string, Description>;

export type ActionTypeName = keyof typeof CATALOGUE;

export interface ActionType extends Description {
  readonly name: ActionTypeName;
  readonly inverse?: ActionTypeName;
}

export const ACTION_TYPES = Object.keys(CATALOGUE) as readonly ActionTypeName[];

const TYPES: ReadonlyMap<string, ActionType> = new Map(
  ACTION_TYPES.map((name) => [name, { name, ...CATALOGUE[name] }]),
);

/** Look-ups, tickets and messages: a second request with the same parameters is no mistake. */
export const REPEATABLE_TYPES: readonly ActionTypeName[] = ACTION_TYPES.filter((name) =>
  ['intelligence', 'ticketing', 'notification'].includes(CATALOGUE[name].category),
);

export function isActionType(name: string): name is ActionTypeName {
  return TYPES.has(name);
}

export function actionType(name: ActionTypeName): ActionType {
  return TYPES.get(name)!;
}

/** Type whose effect this type undoes. */
export function undoneBy(name: string): ActionTypeName | undefined {
  return actionTypes().find(({ inverse }) => inverse === name)?.name;
}

export function actionTypes(): readonly ActionType[] {
  return [...TYPES.values()];
}
