import type { ActionTypeName } from './action-types.js';

/** What a string parameter has to be, where protected targets must be seen in it: any other is for its vendor to judge. */
export const PARAMETER_FORMATS = ['ip', 'domain', 'url', 'email'] as const;
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number];

export interface ActionParameter {
  readonly name: string;
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly values?: readonly string[];
  readonly format?: ParameterFormat;
}

const string = (name: string, required: boolean, format?: ParameterFormat): ActionParameter => ({
  name,
  type: 'string',
  required,
  format,
});
const required = (name: string, format?: ParameterFormat) => string(name, true, format);
const optional = (name: string) => string(name, false);

const REASON = optional('reason');
const EMAIL = [required('message_id'), optional('recipient'), REASON];
const SENDER = [required('sender', 'email'), REASON];
const HOST = [required('host_id'), REASON];
const USER = [required('user'), REASON];
const IP = required('ip', 'ip');
const DOMAIN = required('domain', 'domain');

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
  block_ip: [IP, { name: 'duration_minutes', type: 'integer', required: false }, REASON],
  unblock_ip: [IP, REASON],
  block_domain: [DOMAIN, REASON],
  unblock_domain: [DOMAIN, REASON],
  lookup_url: [required('url', 'url')],
  lookup_domain: [DOMAIN],
  lookup_ip: [IP],
  lookup_hash: [required('hash')],
  create_ticket: [required('title'), optional('description'), optional('priority')],
  notify_user: [required('recipient'), required('subject'), required('message')],
  notify_channel: [required('channel'), required('message')],
};

export function parametersOf(type: ActionTypeName): readonly ActionParameter[] {
  return PARAMETERS[type];
}
