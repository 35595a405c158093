/** Every response action that there is, by name. The catalogue of the actions module describes each of them. */
export const ACTION_TYPES = [
  'quarantine_email',
  'release_email',
  'delete_email',
  'block_sender',
  'unblock_sender',
  'isolate_host',
  'unisolate_host',
  'scan_host',
  'disable_user',
  'enable_user',
  'revoke_sessions',
  'reset_password',
  'block_ip',
  'unblock_ip',
  'block_domain',
  'unblock_domain',
  'lookup_url',
  'lookup_domain',
  'lookup_ip',
  'lookup_hash',
  'create_ticket',
  'notify_user',
  'notify_channel',
] as const;

export type ActionTypeName = (typeof ACTION_TYPES)[number];

export function isActionType(name: string): name is ActionTypeName {
  return (ACTION_TYPES as readonly string[]).includes(name);
}
