/**
 * The words that presets use for what they lift, so that titles, triage and playbooks find the same thing under the same key
 * whatever the tool calls it.
 */
export const LIFTED_KEYS = {
  sender: 'who sent the mail',
  recipient: 'who got it; the first of several',
  subject: 'its subject',
  message_id: 'its Message-ID, or the id that the mail tool knows it by',
  received_at: 'when it arrived',
  host: 'the machine that the event is about',
  user: 'the user that the event is about',
  ip: 'the address that it came from or went to: the other side',
  domain: 'the name that it came from or went to',
  url: 'the address of a page that somebody opened or was to open',
  file: 'name or path of the file',
  sha256: 'the digest of the file',
  process: 'the process, with its command line where the tool has it',
  container: 'the container or pod',
  account: 'the cloud account or tenant',
  resource: 'the cloud resource or the application',
  repository: 'the repository',
  package: 'the software package',
  rule: 'what the tool calls the rule that fired',
  description: 'what the tool says about it',
  link: 'the page of the tool that shows it',
} as const;
