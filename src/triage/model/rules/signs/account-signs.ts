/** What happens to accounts. */
export const ACCOUNT_SIGNS = {
  travel: `
    geographically improbable | geo impossible | travel anomaly | impossible travel |
    unlikely travel | unlikelytravel | impossibletravel | atypical travel | atypicaltravel |
    improbable travel | geo velocity`,
  new_place: `
    new device | unrecognised device | unrecognized device | anomalous sign | anomalous login |
    unusual location | unusual country | new country | new geo | unfamiliar features |
    unfamiliarfeatures | new geo location | new location | first country | unfamiliar location |
    unfamiliar sign in | anomalous token | context change | context .. change`,
  hidden_network: `
    malicious ip | maliciousipaddress | anonymizer | anonymiser | vpn exit | residential proxy |
    botnet .. ip | tor exit | anonymised address | anonymized ip | anonymizedipaddress |
    anonymous proxy | anonymous ip | unknown proxy | hosting | vps | bulletproof | open proxy | tor node |
    tor network | tor browser | tor relay`,
  token_reuse: `
    adversary in the middle | aitm | evilginx | session cookie | stolen cookie | stolen token |
    primary refresh token .. new | satisfied by token | previously satisfied |
    same as previous sign | token claim | token replay | token theft | session hijack* |
    pass the cookie | anomalous token`,
  legacy_protocol: `
    imap | pop3 | bav2ropc | smtp auth | legacy auth* | basic authentication | ropc |
    mapi .. legacy`,
  guessing: `
    passwordspray | many failed | multiple failed | failed logons | failed logins |
    failed login attempts | dictionary attack | password spray | spray | few passwords |
    brute force | bruteforce | credential stuffing | failed .. logons by source |
    failed vpn logons | password guessing | invalid users`,
  guessed: `
    failures followed by a success | failures followed by success* | failed .. followed by a success |
    failed .. followed by success* | success after many failed | success after multiple failed |
    success after many failures | success after multiple failures | success .. many failures before |
    brute force .. succeeded | guessing .. succeeded`,
  stuffing: 'credential stuffing | reuse list | stuffing | account checker',
  push_denied: `
    denied | rejected | not recognised | fraud reported | reported .. fraud | mfa fatigue |
    push bombing`,
  push_flood: `
    mfa fatigue | push fatigue | push bombing | mfa bombing | prompt bombing | mfa spam* |
    push spam* | push flood*`,
  push_gave_in: `
    pushes denied .. approved | push .. denied .. approved | pushes .. denied .. approved |
    prompts .. denied .. approved | mfa .. denied .. approved | requests denied .. approved |
    denied .. prompts .. approved | denied .. pushes .. approved | denied .. times .. approved |
    push .. rejected .. approved | prompts .. rejected .. approved |
    mfa .. rejected .. accepted | denied .. push .. approved | declined .. push .. accepted`,
  fraud_report: `
    report suspicious activity | reported suspicious activity | fraud reported | reported as fraud | did not call | did not request | not me | was not me |
    did not do | denies | did not sign | mfa fraud`,
  factor_changed: `
    factor activate | mfa factor | new authenticator | register device | device registered |
    reset mfa | number changed | authenticator enrolled | default authentication method |
    security info .. registered | temporary password | mfa disabled`,
  inbox_rule: `
    inboxrule | new inboxrule | inbox rule | rss subscriptions | rss feeds | movetofolder |
    deletemessage | markasread | forwarding rule`,
  forwarding: `
    forwardingsmtpaddress | forwarding .. external | forwards .. external | set mailbox |
    auto forward* | autoforward* | redirect to .. external`,
  consent: `
    consent to application | consent grant | illicit consent | oauth app | publisher unverified
    | mail readwrite | mail send | offline access`,
  privilege: `
    global administrator | super administrator | super admin | privilege grant | domain admin | add member to role | privileged role | scope all |
    special privileges | create application credential | golden ticket | krbtgt |
    company administrator | administratoraccess`,
  group_joined: `
    added .. domain admins | added .. enterprise admins | added .. schema admins |
    added .. administrators | new domain admin | new enterprise admin | joined .. domain admins`,
  at_night: `
    out of hours | outside working hours | outside business hours | outside office hours |
    off hours | after hours`,
  cloud_log_off: `
    stoplogging | deletetrail | deleteflowlogs | deletedetector | disable diagnostic log |
    audit log disabled | audit logging disabled | diagnosticsettings delete | deletesink |
    stopconfigurationrecorder | deleteconfigurationrecorder`,
  ticket_attack: 'golden ticket | silver ticket | kerberoast* | dcsync | ticket anomaly',
  leaked_secret: `
    leakedcredentials | leaked credentials | breach .. credentials | credentials .. dark web |
    infostealer log | instancecredentialexfiltration | publicly leaked | leaked key |
    secret scanning | access key | stealer log | truffle* | secret access key | npm token |
    exposed credential`,
  service_desk_pretext: 'lost phone | caller claims | date of birth and',
  voice_pretext: 'whatsapp | voice note | voice clone | deepfake | video call',
} as const;
