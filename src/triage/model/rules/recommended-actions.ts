import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Classification } from '../../../incidents/incident.js';

const MAIL: readonly ActionTypeName[] = [
  'quarantine_email',
  'block_sender',
  'lookup_url',
  'lookup_domain',
];
const HOST: readonly ActionTypeName[] = ['isolate_host', 'scan_host', 'lookup_hash'];
const ACCOUNT: readonly ActionTypeName[] = ['revoke_sessions', 'reset_password', 'lookup_ip'];
const GUESSING: readonly ActionTypeName[] = ['block_ip', 'lookup_ip', 'reset_password'];

/** What usually helps against it. Names of types only: who runs one gives its parameters. */
const AGAINST: Readonly<Record<string, readonly ActionTypeName[]>> = {
  phishing: MAIL,
  spear_phishing: MAIL,
  spam: ['quarantine_email'],
  bec: ['quarantine_email', 'block_sender', 'notify_user'],
  malware_delivery: ['quarantine_email', 'block_sender', 'lookup_hash', 'scan_host'],
  malware: HOST,
  ransomware: ['isolate_host', 'scan_host', 'disable_user', 'lookup_hash'],
  cryptominer: ['isolate_host', 'scan_host', 'block_domain'],
  rat: ['isolate_host', 'scan_host', 'block_ip', 'lookup_ip'],
  pup: ['scan_host', 'lookup_hash'],
  account_takeover: ACCOUNT,
  impossible_travel: ['revoke_sessions', 'lookup_ip', 'notify_user'],
  brute_force: GUESSING,
  credential_stuffing: GUESSING,
};

const LOOK_UPS_ONLY = /^(?:lookup_|scan_host$|notify_)/;

/** An attack is answered; of what is only suspicious more is found out; and nothing is done about the rest. */
export function actionsFor(
  classification: Classification,
  category: string,
): readonly ActionTypeName[] {
  const actions = Object.hasOwn(AGAINST, category) ? AGAINST[category]! : [];
  if (classification === 'malicious') return actions;
  if (classification === 'suspicious') {
    return ['create_ticket', ...actions.filter((name) => LOOK_UPS_ONLY.test(name))];
  }
  return classification === 'inconclusive' ? ['create_ticket'] : [];
}
