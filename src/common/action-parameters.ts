import type { ActionTypeName } from './action-types.js';

export interface ActionParameter {
  readonly name: string;
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly values?: readonly string[];
}

const required = (name: string): ActionParameter => ({ name, type: 'string', required: true });
const optional = (name: string): ActionParameter => ({ name, type: 'string', required: false });

const REASON = optional('reason');
const EMAIL = [required('message_id'), optional('recipient'), REASON];
const SENDER = [required('sender'), REASON];
const HOST = [required('host_id'), REASON];
const USER = [required('user'), REASON];
const DOMAIN = [required('domain'), REASON];

/** What each action takes: requests are checked against it, and the templates of connectors. */
const PARAMETERS: Readonly<Record<ActionTypeName, readonly ActionParameter[]>> = {
  quarantine_email: EMAIL,
  release_email: EMAIL,
  delete_email: EMAIL,
  block_sender: SENDER,
  unblock_sender: SENDER,
  isolate_host: HOST,
  unisolate_host: HOST,
  scan_host: [required('host_id'), { ...optional('scan_type'), values: ['quick', 'full'] }],
  disable_user: USER,
  enable_user: USER,
  revoke_sessions: USER,
  reset_password: USER,
  block_ip: [
    required('ip'),
    { name: 'duration_minutes', type: 'integer', required: false },
    REASON,
  ],
  unblock_ip: [required('ip'), REASON],
  block_domain: DOMAIN,
  unblock_domain: DOMAIN,
  lookup_url: [required('url')],
  lookup_domain: [required('domain')],
  lookup_ip: [required('ip')],
  lookup_hash: [required('hash')],
  create_ticket: [required('title'), optional('description'), optional('priority')],
  notify_user: [required('recipient'), required('subject'), required('message')],
  notify_channel: [required('channel'), required('message')],
};

export function parametersOf(type: ActionTypeName): readonly ActionParameter[] {
  return PARAMETERS[type];
}
