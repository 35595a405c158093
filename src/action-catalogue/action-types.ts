import type { ApprovalLevel } from '../platform/access/roles.js';
import type { ActionParameter, ParameterFormat } from './parameters.js';
import type { TargetKind } from './protected-targets.js';

type Category =
  'email' | 'endpoint' | 'identity' | 'network' | 'intelligence' | 'ticketing' | 'notification';

interface Description {
  readonly description: string;
  readonly category: Category;
  readonly parameters: readonly ActionParameter[];
  readonly level: ApprovalLevel;
  readonly inverse?: string;
  /** True if the effect of the action does not last. For example, a user can log in again after `revoke_sessions`. */
  readonly momentary?: true;
  readonly target?: { readonly parameter: string; readonly kind: TargetKind };
}

const required = (name: string, format?: ParameterFormat) =>
  ({ name, type: 'string', required: true, format }) as const;
const optional = (name: string, values?: readonly string[]) =>
  ({ name, type: 'string', required: false, values }) as const;
const prose = (parameter: ActionParameter) => ({ ...parameter, forPeople: true as const });

const REASON = optional('reason');
const HOST = required('host_id');
const IP = required('ip', 'ip');
const DOMAIN = required('domain', 'domain');

/** Describes types with the same category and parameters. If `kind` is given, the first parameter is the target. */
function of(category: Category, kind: TargetKind | undefined, ...parameters: ActionParameter[]) {
  const target = kind && { parameter: parameters[0]!.name, kind };
  return (
    description: string,
    level: ApprovalLevel = 'none',
    more: Pick<Description, 'inverse' | 'momentary'> = {},
  ): Description => ({ description, category, parameters, target, level, ...more });
}

const onEmail = of('email', undefined, required('message_id'), optional('recipient'), REASON);
const onSender = of('email', 'sender', required('sender', 'email'), REASON);
const onHost = of('endpoint', 'host', HOST, REASON);
const scan = of('endpoint', 'host', HOST, optional('scan_type', ['quick', 'full']));
const onUser = of('identity', 'user', required('user'), REASON);
const MINUTES = { name: 'duration_minutes', type: 'integer', required: false } as const;
const block = of('network', 'ip', IP, MINUTES, REASON);
const unblock = of('network', 'ip', IP, REASON);
const onDomain = of('network', 'zone', DOMAIN, REASON);
const lookUp = (parameter: ActionParameter, kind?: TargetKind) =>
  of('intelligence', kind, parameter);
const ticket = [prose(required('title')), prose(optional('description')), optional('priority')];
const message = prose(required('message'));
const toUser = [required('recipient'), prose(required('subject')), message];

/** All response actions. API, validation, approvals and documents use this list. For a new action, see CONTRIBUTING. */
const CATALOGUE = {
  quarantine_email: onEmail('Moves an email out of its mailbox into quarantine.', 'none', {
    inverse: 'release_email',
  }),
  release_email: onEmail('Returns a quarantined email to its mailbox.', 'analyst'),
  delete_email: onEmail('Deletes an email permanently.', 'senior'),
  block_sender: onSender('Blocks mail from a sender.', 'none', { inverse: 'unblock_sender' }),
  unblock_sender: onSender('Unblocks mail from a sender.', 'analyst'),
  isolate_host: onHost('Cuts a host off the network.', 'senior', { inverse: 'unisolate_host' }),
  unisolate_host: onHost('Reconnects an isolated host to the network.', 'senior'),
  scan_host: scan('Starts a malware scan on a host.', 'none', { momentary: true }),
  disable_user: onUser("Disables a user's account.", 'senior', { inverse: 'enable_user' }),
  enable_user: onUser("Enables a user's account again.", 'senior'),
  revoke_sessions: onUser('Ends all sessions of a user.', 'analyst', { momentary: true }),
  reset_password: onUser('Forces a user to choose a new password.', 'senior', { momentary: true }),
  block_ip: block('Blocks an address.', 'analyst', { inverse: 'unblock_ip' }),
  unblock_ip: unblock('Unblocks an address.', 'analyst'),
  block_domain: onDomain('Blocks a domain.', 'analyst', { inverse: 'unblock_domain' }),
  unblock_domain: onDomain('Unblocks a domain.', 'analyst'),
  lookup_url: lookUp(required('url', 'url'), 'url')('Looks up the reputation of a URL.'),
  lookup_domain: lookUp(DOMAIN, 'domain')('Looks up the reputation of a domain.'),
  lookup_ip: lookUp(IP, 'ip')('Looks up the reputation of an address.'),
  lookup_hash: lookUp(required('hash'))('Looks up the reputation of a file by its hash.'),
  create_ticket: of('ticketing', undefined, ...ticket)('Opens a ticket.'),
  notify_user: of('notification', undefined, ...toUser)('Sends a message to a person.'),
  notify_channel: of(
    'notification',
    undefined,
    required('channel'),
    message,
  )('Posts a message to a channel.'),
} satisfies Record<string, Description>;

export type ActionTypeName = keyof typeof CATALOGUE;

export interface ActionType extends Description {
  readonly name: ActionTypeName;
  readonly inverse?: ActionTypeName;
}

export const ACTION_TYPES = Object.keys(CATALOGUE) as readonly ActionTypeName[];

const TYPES: ReadonlyMap<string, ActionType> = new Map(
  ACTION_TYPES.map((name) => [name, { name, ...CATALOGUE[name] } as ActionType]),
);

/** Types that may be requested twice with the same parameters: lookups, tickets and messages. */
export const REPEATABLE_TYPES: readonly ActionTypeName[] = ACTION_TYPES.filter((name) =>
  ['intelligence', 'ticketing', 'notification'].includes(CATALOGUE[name].category),
);

export function isActionType(name: string): name is ActionTypeName {
  return TYPES.has(name);
}

export function actionType(name: ActionTypeName): ActionType {
  return TYPES.get(name)!;
}

export function undoneBy(name: string): ActionTypeName | undefined {
  return actionTypes().find(({ inverse }) => inverse === name)?.name;
}

export function actionTypes(): readonly ActionType[] {
  return [...TYPES.values()];
}
