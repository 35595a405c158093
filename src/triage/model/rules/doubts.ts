/**
 * What a calming fact can explain: signs of one kind, each of which also has harmless causes. A calming fact counts against the signs of
 * its own doubts and against nothing else: that the sign-in was strong says nothing about what was done after it. A sign that is
 * in none of these lists stands, whatever stands beside it: no harmless habit explains a ransom note or a memory dump.
 */
export const DOUBTS = {
  /** From where, and from which device, somebody signs in. */
  place: [
    'travel',
    'new_place',
    'two_countries',
    'too_fast',
    'soon_elsewhere',
    'hidden_network',
    'network_hidden_seen',
    'unknown_device',
    'newness_seen',
    'no_second_factor',
    'policy_not_applied',
    'legacy_protocol',
  ],
  guess: [
    'guessing',
    'guessing_named',
    'many_failures',
    'many_accounts',
    'failures_of_one',
    'one_got_in',
  ],
  /** Whether the sender is who it says, as far as also honest mails fail in it. */
  sender: [
    'first_contact',
    'dmarc_absent',
    'spf_failed',
    'signature_missing',
    'nobody_vouches',
    'links_elsewhere',
    'urgency',
    'fairly_young_domain',
    'opener',
  ],
  /** What lures people, as an exercise does on purpose. */
  lure: [
    'account_threat',
    'sign_in_request',
    'lure',
    'link_in_code',
    'odd_link',
    'page_asks_secrets',
    'page_sends_secrets',
    'page_imitates',
    'name_borrowed',
    'lookalike_seen',
    'impersonation_seen',
    'replies_elsewhere',
    'young_domain',
    'new_domain_seen',
    'dmarc_failed',
    'reader_fell_for_it',
  ],
  payment: ['payment_change', 'account_changed_on_file'],
  /** What administrators do as well. */
  run: [
    'encoded_shell',
    'hidden_shell',
    'script_host',
    'persistence',
    'discovery',
    'remote_service',
  ],
  fetch: ['download_and_run'],
  program: ['runs_where_anybody_writes', 'unsigned'],
  stores: ['credential_store'],
  calls: ['regular_calls', 'bare_address'],
  unwanted: ['unwanted'],
  /** What the tool decided by itself before somebody looked. */
  tool: [
    'tool_says_malicious',
    'tool_suspects',
    'called_malware',
    'called_malware_in_mail',
    'called_phish',
    'called_impostor',
    'called_spam',
    'kind_named',
    'rule_names_phish',
  ],
  /** How bad the tool rates the signs that it saw: what explains these explains the rating. */
  rating: ['tool_says_critical', 'tool_says_high'],
  request: ['attack_in_request', 'web_attack_named', 'named_with_request', 'request_let_through'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Doubt = keyof typeof DOUBTS;

const DOUBT_OF: ReadonlyMap<string, Doubt> = new Map(
  (Object.keys(DOUBTS) as Doubt[]).flatMap((doubt) =>
    DOUBTS[doubt].map((sign): [string, Doubt] => [sign, doubt]),
  ),
);

/** The kind of doubt that a rule raises; none for a sign that stands. */
export const doubtOf = (rule: string): Doubt | undefined => DOUBT_OF.get(rule);
