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
    'speaks_of_attacks',
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
  rights: [
    'factor_changed',
    'privilege',
    'privileged_member',
    'member_at_night',
    'consent',
    'service_account_by_hand',
    'dormant_account',
    'exposed',
    'cloud_misuse',
  ],
  transfer: [
    'exfiltration_tool',
    'much_sent_out',
    'not_sanctioned',
    'much_read_after',
    'far_above_usual',
  ],
  files: ['mass_renaming', 'mass_encryption'],
  remote: ['remote_control'],
  program: ['runs_where_anybody_writes', 'unsigned', 'rare_program'],
  stores: ['credential_store'],
  calls: [
    'regular_calls',
    'bare_address',
    'tunnel',
    'many_long_names',
    'many_text_records',
    'data_in_name',
  ],
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
  /** Words that want to move the reader. What is proven stays so. */
  talk: ['orders_a_verdict', 'talks_to_machines', 'both_orders'],
  request: ['attack_in_request', 'web_attack_named', 'named_with_request', 'request_let_through'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * What makes an event odd without being an attack: where somebody signs in from, what a tool suspects or how it rates it. However many of them
 * there are, they ask for a look; malicious takes something that was done, found or confirmed.
 */
export const CIRCUMSTANCES: ReadonlySet<string> = new Set<string>([
  ...DOUBTS.place,
  ...DOUBTS.rating,
  ...DOUBTS.talk,
  'tool_suspects',
  'threat_suspected',
  'high_risk',
  'behaviour_new',
  'attack_type',
  'guessing',
  'guessing_named',
  'not_stopped',
  'not_approved',
  'not_verified',
  'not_asked',
  'outside_of_scope',
  'never_before',
  'far_above_usual',
  'leaked_secret',
  'still_valid',
  'remote_support',
  'not_sanctioned',
  'leaver',
  'locked_archive',
]);

export type Doubt = keyof typeof DOUBTS;

const DOUBT_OF: ReadonlyMap<string, Doubt> = new Map(
  (Object.keys(DOUBTS) as Doubt[]).flatMap((doubt) =>
    DOUBTS[doubt].map((sign): [string, Doubt] => [sign, doubt]),
  ),
);

/** The kind of doubt that a rule raises; none for a sign that stands. */
export const doubtOf = (rule: string): Doubt | undefined => DOUBT_OF.get(rule);
