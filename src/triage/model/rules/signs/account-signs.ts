/** What happens to accounts. */
export const ACCOUNT_SIGNS = {
  travel: `
    geographically improbable | geo impossible | travel anomaly | impossible travel |
    unlikely travel | unlikelytravel | impossibletravel | atypical travel | atypicaltravel |
    improbable travel | geo velocity | two countries within | two countries in |
    two places within | from two countries | different countries within`,
  new_place: `
    new device | unrecognised device | unrecognized device | anomalous sign | anomalous login |
    unusual location | unusual country | new country | new geo | unfamiliar features |
    unfamiliarfeatures | new geo location | new location | first country | unfamiliar location |
    unfamiliar sign in | anomalous token | context change | context .. change | new asn |
    new browser | unfamiliar device | unknown device | first time .. country | unusual asn |
    atypical location | never used before | not seen before | never seen | new ip address |
    unknown location`,
  hidden_network: `
    malicious ip | maliciousipaddress | anonymizer | anonymiser | vpn exit | residential proxy |
    botnet .. ip | tor exit | anonymised address | anonymized ip | anonymizedipaddress |
    anonymous proxy | anonymous ip | unknown proxy | hosting | vps | bulletproof | open proxy |
    tor node | tor network | tor browser | tor relay | datacenter | data centre | data center |
    commercial vpn | consumer vpn | anonymous vpn | m247 | nordvpn | mullvad | cloud provider ip |
    torclient | riskyipaddress | maliciousipcaller`,
  token_reuse: `
    adversary in the middle | aitm | evilginx | session cookie | stolen cookie | stolen token |
    primary refresh token .. new | satisfied by token | previously satisfied |
    same as previous sign | token claim | token replay | token theft | session hijack* |
    pass the cookie | anomalous token | cookie replay | session replay | token reuse |
    reused session | evilproxy | tycoon | session continued | same session .. different |
    session token .. stolen | refresh token .. used | replayed |
    attackerinthemiddle | anomaloustoken | tokenissueranomaly | primaryrefreshtoken`,
  legacy_protocol: `
    imap | pop3 | bav2ropc | smtp auth | legacy auth* | basic authentication | ropc |
    mapi .. legacy`,
  guessing: `
    passwordspray | many failed | multiple failed | failed logons | failed logins |
    failed login attempts | dictionary attack | password spray | spray | few passwords |
    brute force | bruteforce | credential stuffing | failed .. logons by source |
    failed vpn logons | password guessing | invalid users | failed sign ins |
    failed authentications | authentication failures | password attack | login failures`,
  guessed: `
    failures followed by a success | failures followed by success* | failed .. followed by a success |
    failed .. followed by success* | success after many failed | success after multiple failed |
    success after many failures | success after multiple failures | success .. many failures before |
    brute force .. succeeded | guessing .. succeeded | failed .. then one that worked |
    failed .. then one that succeeded | failed .. then succeeded | failed .. then a success*`,
  stuffing: 'credential stuffing | reuse list | stuffing | account checker',
  push_denied: `
    denied | rejected | not recognised | fraud reported | reported .. fraud | mfa fatigue |
    push bombing`,
  push_flood: `
    mfa fatigue | push fatigue | push bombing | mfa bombing | prompt bombing | mfa spam* |
    push spam* | push flood* | repeated push | push notifications .. denied |
    mfa prompts .. denied | repeated mfa | many push`,
  push_gave_in: `
    pushes denied .. approved | push .. denied .. approved | pushes .. denied .. approved |
    prompts .. denied .. approved | mfa .. denied .. approved | requests denied .. approved |
    denied .. prompts .. approved | denied .. pushes .. approved | denied .. times .. approved |
    push .. rejected .. approved | prompts .. rejected .. approved |
    mfa .. rejected .. accepted | denied .. push .. approved | declined .. push .. accepted`,
  fraud_report: `
    report suspicious activity | reported suspicious activity | fraud reported |
    reported as fraud | did not call | did not request | not me | was not me | did not do |
    denies | did not sign | mfa fraud | user denies | never signed | never requested |
    did not approve | did not initiate | unknown to user | pressed yes | to stop it |
    not recognise | not recognize | tapped approve | approved .. by mistake | approved .. annoy* |
    no knowledge |
    userreportedsuspiciousactivity | report suspicious activity by enduser`,
  factor_changed: `
    factor activate | mfa factor | new authenticator | register device | device registered |
    reset mfa | number changed | authenticator enrolled | default authentication method |
    security info .. registered | temporary password | mfa disabled | new passkey |
    mfa method .. added | mfa reset | mfa removed | authenticator .. added |
    added .. authenticator | new mfa device | factor .. removed | phone number .. changed |
    new authenticator .. registered | factor reset | new phone .. registered |
    disable strong authentication | mfa attempt bypass | recovery address |
    authenticator .. replaced`,
  inbox_rule: `
    inboxrule | new inboxrule | inbox rule | rss subscriptions | rss feeds | movetofolder |
    deletemessage | markasread | forwarding rule | inbox rule created | rule .. deletes |
    rule .. moves | hides mail | conversation history | mark as read | mailbox rule |
    suspiciousinboxforwarding | mcassuspiciousinboxmanipulationrules | updateinboxrules | inbox manipulation`,
  forwarding: `
    forwardingsmtpaddress | forwarding .. external | forwards .. external | set mailbox |
    auto forward* | autoforward* | redirect to .. external | forward .. external |
    external forwarding | forwardto | redirectto | forwardasattachmentto | forwarding .. gmail |
    forwarded .. outside`,
  consent: `
    consent to application | consent grant | illicit consent | oauth app | publisher unverified |
    mail readwrite | mail send | offline access | user consent | granted consent | mail read |
    files readwrite | files read all | application permission* | full access as app |
    add service principal credential* | certificates and secrets management`,
  privilege: `
    global administrator | super administrator | super admin | privilege grant | domain admin |
    add member to role | privileged role | scope all | special privileges |
    create application credential | golden ticket | krbtgt | company administrator |
    administratoraccess | role assigned | owner role | sudoers | local administrators |
    attachuserpolicy | attachrolepolicy | putuserpolicy | createaccesskey | createloginprofile |
    createpolicyversion | add owner | exchange administrator | security administrator |
    owner .. subscription | made .. administrator | admin rights`,
  group_joined: `
    added .. domain admins | added .. enterprise admins | added .. schema admins |
    added .. administrators | new domain admin | new enterprise admin | joined .. domain admins`,
  at_night: `
    out of hours | outside working hours | outside business hours | outside office hours |
    off hours | after hours`,
  cloud_log_off: `
    stoplogging | deletetrail | deleteflowlogs | deletedetector | disable diagnostic log |
    audit log disabled | audit logging disabled | diagnosticsettings delete | deletesink |
    stopconfigurationrecorder | deleteconfigurationrecorder | guardduty disabled |
    disable .. guardduty | trail .. stopped | trail deleted | logging .. turned off |
    sink deleted | audit .. disabled | audit log .. disabled | cloudtrail .. stopped`,
  ticket_attack: 'golden ticket | silver ticket | kerberoast* | dcsync | ticket anomaly',
  leaked_secret: `
    leakedcredentials | leaked credentials | breach .. credentials | credentials .. dark web |
    infostealer log | instancecredentialexfiltration | publicly leaked | leaked key |
    secret scanning | access key | stealer log | truffle* | secret access key | npm token |
    exposed credential | key .. public repository | credentials .. public | token .. public |
    private key .. exposed | exposed key | exposed token | leaked token | leaked password |
    leaked credential | key .. leaked | key .. committed | password .. breach`,
  service_desk_pretext: `
    lost phone | caller claims | date of birth and | employee number only | reset without |
    caller .. not verified | identity .. not verified`,
  voice_pretext: 'whatsapp | voice note | voice clone | deepfake | video call',
  exposed: `
    public read | publicly accessible | made public | anyone with the link | allusers | allauthenticatedusers |
    anonymous access | public bucket | bucket .. public | internet exposed | open to the internet |
    public access .. enabled | publicly readable | publicly writable`,
  cloud_misuse: `
    unused region | gpu instances | many instances | instances launched | createfunction |
    modifysnapshotattribute | snapshot .. shared | snapshot .. public | getsecretvalue .. times |
    runinstances | region .. never used`,
} as const;
