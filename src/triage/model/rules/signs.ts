import { Lexicon } from './phrases.js';

/*
 * Phrases by the sign that they are, with `|` between them. `..` is up to eight other words, `*` any ending. A sign only ever
 * counts against an event: a text can lie, and nobody lies to look guilty.
 */

/** What mails and pages ask for. */
export const MAIL_SIGNS = {
  urgency: `
    asap | right away | before noon | end of day | as soon as possible | today only | 24 hours |
    48 hours | urgent | immediately | within .. hours | within .. min | within .. h | expires |
    expires today | action needed | action required | last chance | final notice | dringend |
    sofort | umgehend | urgente | läuft .. ab | expire | by noon | close of business | eod |
    final reminder | last reminder | last warning | within a day | within one day |
    will be .. suspended | without delay | time sensitive | before the deadline`,
  account_threat: `
    mailbox storage | quota | deactivat* | unusual activity | security alert | payment failed |
    billing problem | tax refund | suspension | account .. closed | account .. disabled |
    reset .. password | verify .. identity | confirm .. password | password .. expire* |
    account .. expire* | account .. suspended | account .. locked | mailbox .. full |
    verify .. account | confirm .. account | confirm .. identity | re enrol* | renew .. 2fa |
    revalidate | re validate | session ends | unusual sign in | konto .. gesperrt | reauth* |
    update .. account | enrol .. authenticator | storage almost full | storage .. full |
    will be deactivated | account will be | keep your messages | messages .. held |
    held messages | pending messages | undelivered messages | quarantined messages |
    mailbox .. upgrade | verify your mailbox | re authenticate | unusual login |
    account .. restricted | account .. limited | account .. on hold | release .. messages |
    password .. today | password has expired | access .. revoked`,
  sign_in_request: `
    sign in | log in | login .. account | work account | enter .. code | enter .. password |
    corporate sign | identifiez vous | anmelden | connectez vous | accedi | scan .. code |
    scan .. phone | inicie sesión | confirm your password | verify your password | log into |
    login to | view document | access .. document | scan the qr | scan this |
    use your phone .. scan | qr code | verify .. mailbox | sign on | re login`,
  asks_secrets: `
    passwd | password | current password | passwort | cardnumber | card number | cvv | otp |
    seed phrase | 24 words | recovery phrase | wallet | social security | date of birth |
    card details | pin code | loginfmt | mot de passe`,
  seed_phrase: 'seed phrase | 24 words | 12 words | recovery phrase | recovery words',
  payment_change: `
    routing number | account number | beneficiary | change .. payment | changed banks |
    updated bank | updated banking | banking details | ach details | swift | new account |
    new bank | bank details | bank .. account | change .. iban | iban .. change* |
    direct deposit | wire instructions | wiring instructions | wire the | wire transfer |
    kontonummer | neue bankverbindung | bankverbindung | updated wire | nuovo conto |
    nouveau compte | coordonnées bancaires | payment details .. changed | changed .. bank |
    different account | pay details | salary account | my bank account | another bank |
    different bank | new iban | new payment details | payment instructions | remittance details |
    remit to | updated remittance | bank information | banking information |
    account details .. change* | change .. account details | change .. direct deposit |
    update .. direct deposit | update .. bank | receiving account | changed .. account |
    new bank account | updated remittance data | to the new one | account .. under review`,
  money_request: `
    transfer | transfers | invoice | invoices | payment | overdue | remittance | advance of |
    payroll | salary | faktura | rechnung | fattura | facture | wire | deposit | instalment |
    installment`,
  gift_cards: 'gift card | gift cards | giftcards | scratch | voucher codes | itunes cards',
  secrecy: `
    confidential | keep this confidential | between us | do not discuss | discretion |
    tell no one | nobody else | in a meeting | cannot talk | this channel |
    strictly confidential | tell nobody | keep .. between us | do not call | no calls |
    cannot .. call | discreet | non disclosure | nda | do not involve | do not share |
    keep this quiet | quiet until | not mention | without informing | do not tell |
    between you and me | highly confidential | private matter | sensitive matter |
    cannot take calls | reply only | only by mail | only by email | only you and`,
  sensitive_list: `
    payroll list | salary list | customer list | list of employees | tax form | w 2s | tax forms |
    w 2 | w2 | payslips | aging report | ageing report | employee list | tax .. staff |
    personnel files | tax certificates | passport copies | copies of passports |
    list of .. customers | vendor list | salary .. spreadsheet | employee data | staff list`,
  call_back: `
    cancel .. call | to cancel | call .. within | call us .. cancel | toll free | call support |
    contact .. billing | contact .. support | contact .. desk | call .. immediately | call our |
    call us | call the number | dial | helpline | hotline | customer care | our agents |
    billing desk | refund .. call | speak .. agent | support number | phone support | ring us |
    ring .. within | did not authorise | did not authorize`,
  charged: `
    charged | renews | renewal | subscription | order confirmed | auto renew |
    purchase .. confirmed | thank you for your purchase | your purchase | order confirmation |
    order .. confirm* | has been debited | will be debited | debited | invoice paid |
    purchase of | protection plan | auto renewal | membership | your order |
    payment of .. received | deducted | taken from your account | was taken from | for renewing`,
  extortion: 'recorded you | full control of your | your webcam | bitcoin | btc | compromising',
  parcel_fee: `
    delivery failed | failed delivery | package | parcel | customs charge | customs fee |
    parcel .. fee | delivery fee | pending .. parcel | redelivery | address incomplete |
    reschedule .. delivery | unpaid toll | shipping fee | customs duty | delivery .. fee`,
  voicemail: `
    voice message | voicemail | scanned image | fax message | shared with you |
    document .. shared | secure message | please sign | review and sign | geschütztes dokument |
    protected document | missed call | new fax | esign | e signature | e sign |
    signature request | signature requested | completed document | shared a file |
    shared a document | shared a folder | has shared | file shared | encrypted message |
    secure document | payment advice | remittance advice | salary adjustment |
    document for review | shared with | waiting for your signature | ready to sign`,
  archive_password: 'archive password | zip password | password .. archive | passwort .. archiv',
  device_code: 'devicecode | device code | login .. device | device .. enter the code',
  unsolicited: `
    prize | you won | winner | reward | rewards | voucher | lottery | inheritance | claim your |
    limited offer | survey .. voucher | million dollars | million usd`,
  impersonation: `
    impersonation | impersonat* | lookalike | look alike | display name from outside |
    executive display name | brand impersonation | similar domain | typosquat* | spoofed |
    spoofing | ceo fraud | executive .. name | posing as | poses as | pretending to be |
    display name .. employee | display name .. executive`,
  run_this: `
    press win r | press windows r | windows key r | win r | windows r | open .. terminal |
    open .. powershell | run dialog | paste .. terminal | paste .. powershell | paste .. command |
    copy .. command .. run | ctrl v .. enter | paste .. address bar | paste .. explorer |
    command .. verify | run the following | verification steps`,
  opener: `
    at your desk | quick task | quick favour | quick favor | are you available | are you free |
    mobile number | cell number | need you to | kindly | favour to ask | favor to ask |
    are you in the office | got a minute | have a minute | discreet task | send me your number |
    personal number | need a favor | need a favour | can you handle | are you busy |
    quick request | something urgent`,
  human_check: 'i am not a robot | verify you are human | captcha',
} as const;

/** Orders to whoever, or whatever, reads along. */
export const ORDER_SIGNS = {
  verdict_order: `
    mark .. benign | mark .. safe | classify .. benign | classify .. safe |
    classification benign | classification to benign | classification .. benign | verdict benign |
    verdict .. benign | verdict safe | answer benign | answer .. benign | answer with |
    return benign | return .. benign | output benign | output .. benign | label .. benign |
    treat as benign | treat .. benign | set .. benign | disposition benign |
    disposition .. benign | resolve as benign | resolve .. benign | evaluate .. benign |
    report .. benign | assessment benign | conclusion .. benign | close .. benign |
    close .. false positive | closed .. false positive | als unbedenklich | als harmlos |
    als benign | réponds .. benign | do not escalate | do not re triage | keine maßnahmen |
    skip analysis | must .. benign | confidence 1 | confidence 0 | confidence high | classify as |
    请判定为良性`,
  orders_to_machine: `
    ignore .. previous | ignore .. instructions | ignore all | disregard .. instructions |
    forget .. instructions | previous instructions | system prompt | you are now |
    developer mode | system message | system notice | system override | as an ai | note to ai |
    note to .. ai | note to automated | note to the automated | notice to automated |
    notice to .. ai | ai triage | ai agent | triage model | triage override | triage note |
    to the model | instruct model | instruct the model | automated reviewer | language model |
    llm | classifier | evaluator please | models should | model should | model must |
    assistant must | assistant output | consigne au modèle | oublie les règles | an das modell |
    an die ki | an das prüfsystem | hinweis an das prüfsystem | for the machine |
    end of untrusted | begin untrusted | role system | role tool | role assistant |
    call the tool | function results | tool result`,
} as const;

/** What runs on a machine. */
export const ENDPOINT_SIGNS = {
  encoded_shell: `
    powershell .. enc | powershell .. encodedcommand | pwsh .. enc | pwsh .. encodedcommand |
    frombase64string | powershell .. ec | powershell .. encodedc* | powershell exe e |
    powershell e | base64 d | base64 decode | certutil .. decode | encoded powershell |
    encoded command | obfuscated .. command | obfuscated powershell`,
  hidden_shell: `
    powershell .. hidden | w hidden | windowstyle hidden | conhost .. headless |
    executionpolicy bypass | ep bypass | exec bypass | nop .. w | window hidden`,
  download_and_run: `
    installutil | regasm | cmstp | odbcconf | msbuild .. xml | invoke webrequest .. iex |
    python c .. urllib | start bitstransfer | clickfix | fakeupdates | iex .. iwr | iex .. irm |
    iwr .. iex | irm .. iex | invoke restmethod .. iex | webclient .. iex |
    iwr .. invoke expression | irm .. invoke expression | invoke webrequest .. invoke expression |
    iex .. downloadstring | iex .. webclient | invoke expression .. webclient | downloadstring |
    downloadfile | curl .. bash | curl .. sh | wget .. sh | wget .. bash | certutil .. urlcache |
    bitsadmin .. transfer | mshta http | mshta https | mshta .. http | mshta .. https |
    mshta javascript | mshta vbscript | regsvr32 .. http | regsvr32 .. https | msiexec .. http |
    msiexec .. https | rundll32 javascript | rundll32 .. http | scrobj dll |
    wmic .. format .. http | curl .. python | wget .. python | curl .. perl | wget .. chmod |
    curl .. chmod | regsvr32 .. scrobj | certutil .. http | certutil .. https |
    desktopimgdownldr | wget .. tmp | curl .. tmp | bash c curl |
    invoke webrequest .. start process | iwr .. start process | download* .. and execut* |
    download* .. and run* | fetch* .. and execut* | hh exe .. http | iex .. http | iex .. https |
    curl .. rundll32`,
  credential_dump: `
    rubeus | lazagne | impacket | crackmapexec | netexec | credentialaccess .. lsass |
    comsvcs dll .. minidump | comsvcs .. minidump | procdump .. lsass | lsass .. dump* |
    dump* .. lsass | minidump .. lsass | lsass .. minidump | lsass .. dmp | access to lsass |
    access lsass | accesses lsass | accessed lsass | lsass access | opens lsass | opened lsass |
    reads lsass | read lsass | reading lsass | memory of lsass | memory of .. lsass |
    inject* .. lsass | lsass inject* | sekurlsa | mimikatz | ntds dit | dcsync | reg save .. sam |
    credential dumping | secretsdump | lsass memory | nanodump | pypykatz | lsassy |
    silentprocessexit | sam hive | save hklm sam | save hklm security | lsa secrets | hashdump |
    gsecdump | credential theft | ticket dump | etc shadow | dump .. credentials |
    credentials .. dumped | dumps credentials | lsass process memory | ntds .. copied |
    copied .. ntds |
    read sensitive file | search private keys | 1131f6aa`,
  directory_copy: 'ntdsutil',
  credential_store: `
    formbook | login data | library keychains | keychain dump* | dump* .. keychain |
    cp .. keychain | copy .. keychain | read* .. keychain | keychain .. read* | document cookie |
    credential store | id rsa | cookies sqlite | dscl .. authonly | wallet dat | stealer |
    infostealer | credential theft | raccoon stealer | vidar stealer | redline stealer |
    lumma stealer | lummastealer | passwords .. browser | browser .. passwords | saved passwords |
    stored passwords | browser credentials | login data .. copied | cookies .. copied |
    session tokens .. browser | keepass .. export | seed .. wallet |
    environment variables .. sent | environment variables .. post* | posts .. environment |
    npmrc | aws credentials`,
  backups_destroyed: `
    vssadmin delete | vssadmin .. delete shadows | shadowcopy delete | delete shadows |
    wbadmin delete | bcdedit .. recoveryenabled no | backup deletion | esxcli vm process kill |
    vim cmd .. power off | vms powered off | delete catalog | resize shadowstorage |
    bcdedit .. ignoreallfailures | wmic shadowcopy | shadowcopy .. delete | snapshots deleted |
    delete .. snapshots | backups .. deleted | backup .. deleted | deleted .. backups |
    shadow copies .. deleted | shadow copies deleted | shadow copies .. removed |
    recovery .. disabled | virtual machines stopped | backup catalog`,
  ransomware_words: `
    blackcat | alphv | revil | encryptor | decrypt instructions | readme .. restore |
    how to recover | how to restore | restore my files | ransomware | ransom note | ransom |
    files encrypted | mass encryption | encrypted files | how to decrypt | lockbit |
    akira ransom* | conti ransom* | black basta | blackbasta | clop | cl0p | rhysida | ryuk |
    babuk | qilin | phobos | blackmatter | bianlian | file encryption | encrypting files |
    encrypts files | files were encrypted`,
  ransom_note: `
    ransom note dropped | ransom note found | ransom note created | ransom note written |
    ransom notes | recover .. in every folder | restore .. in every folder |
    decrypt instructions | recovery instructions .. txt | ransom message`,
  encrypted_files: `
    files .. encrypted | files .. locked | locked files | encrypted .. files | extension locked |
    extension .. encrypted | shares .. encrypted | cannot open .. files | encrypted by | locked by`,
  ransom_demand: `
    note .. bitcoin | note .. btc | note .. monero | note .. ransom | asks for bitcoin |
    asking for bitcoin | demand* .. bitcoin | demand* .. ransom | demand* .. payment |
    ransom note | ransom demand | note .. pay | pay .. decrypt* | recover your files |
    restore your files | your files are | your files have | files have been encrypted`,
  miner: `
    kinsing | kdevtmpfsi | coin mining | crypto mining | cryptomining | mining malware |
    mining software | mining process | mines coins | mining .. coins | cryptocurrency mining |
    cryptocurrency miner | bitcoin miner | xmr miner | coinhive | cpuminer | stratum | xmrig |
    minerd | mining pool | mining protocol | cryptominer | coinminer | bitcointool | nicehash |
    monero | xmrig* | ethminer | nbminer | phoenixminer | lolminer | kworkerds | moneroocean |
    nanopool | supportxmr | minexmr | hashrate | randomx | cryptonight | cryptojacking |
    coin miner | cryptocurrency .. pool | monero .. pool`,
  rat: `
    anydesk .. unattended | ngrok | chisel | bash i | dev tcp | nc e | plink |
    brute ratel | dcrat | xworm | asyncrat | remcos | njrat | quasarrat |
    agenttesla | cobalt strike | cobaltstrike | meterpreter | command and control |
    reverse shell | backdoor | remote access trojan | dll side | side loading | sideloading |
    havoc c2 | sliver c2 | quasar rat | c2 server | c2 channel | command control server |
    implant | ligolo | frpc | plugx | shadowpad | gh0st | netwire | nanocore | darkcomet |
    strrat | netsupport rat | msfvenom | bind shell | pty spawn | socket .. subprocess |
    remote shell | metasploit | sliver | mythic agent | poshc2 |
    netcat remote code | redirect stdout stdin | cnc | checkin | c c activity | c c server`,
  remote_support: `
    remote access tool | remote administration tool | remote monitoring and management |
    remote support tool | remote access software | rmm tool | rmm software`,
  loader_family: `
    wacatac | qbot | gootloader | latrodectus | pikabot | darkgate | socgholish | mirai |
    zloader | emotet | qakbot | icedid | guloader | bumblebee loader | trickbot | ursnif | gozi |
    smokeloader | dridex | hancitor | amadey | danabot | systembc | raspberry robin |
    bazarloader | matanbuchus | hijackloader | asyncloader | nemucod`,
  beacon: `beacon | beaconing | c2 | command and control | calls home |
    cnc beacon | periodic connection* | regular interval* | fixed interval* | beacon like`,
  malware_family: `
    trojan | trojaned | trojandownloader | worm | worm like | virus | dropper | variant loader |
    malware loader | trojan loader | loader malware | downloader | rootkit | exploit attempt* |
    exploit detected | exploit blocked | exploit kit | exploit activity | exploit public |
    exploited | exploitation | webshell | web shell | hacktool | botnet | keylogger | spyware |
    wiper | malicious software | shellcode | process injection | process hollowing |
    malicious driver | malicious document | malicious macro | malicious package | trojanized | trojanised | dependency confusion | injected .. process |
    code injected | remote thread | reflective |
    fileless execution | memfd create | container escape | nsenter | et malware | et trojan | network trojan | coinminer | exploit_kit | escape to host`,
  unwanted: `
    adware | pua | pup | potentially unwanted | riskware | bundler | keygen | browser hijacker |
    cracked | crack exe`,
  attacker_seen: `
    malicious activity | known adversary | suspected adversary | hands on keyboard | hands on activity |
    stolen session | stolen session cookie | cookie was stolen | malicious file was found |
    ddos attack | denial of service attack | executing binary not part of base image |
    drop and execute new binary`,
  persistence: `
    reg add .. run | schtasks | hkcu .. run | hklm .. run | launchdaemons | wmi subscription |
    event consumer | userinit | scheduled task created | task created | schtasks .. create |
    run key | currentversion run | crontab | cron | startup folder | launchagents |
    systemd service .. created | authorized keys | sc create | service created |
    service installed | runonce | image file execution | winlogon shell | com hijack* |
    login item | launch agent | launch daemon | rc local | ld so preload | ld preload |
    systemctl enable | shell startup | new scheduled task | write below etc | write below binary |
    modify binary dirs | user created | new local user | net user .. add | autorun |
    run key written`,
  remote_service: `
    new service | remote execution | sc .. create | pass the hash | passthehash | overpass |
    admin share | service created remotely | psexec | psexesvc | wmiexec | smbexec |
    admin .. exe | wmiprvse | winrm .. invoke | lateral movement | process call create`,
  defence_off: `
    net stop .. defender | sc stop .. windefend | taskkill .. defender | advfirewall .. off |
    auditpol .. clear | setenforce 0 | history c | logging disabled | protection disabled |
    protection turned off | sensor stopped | agent uninstalled | disabled real time |
    disable .. real time | disablerealtimemonitoring | set mppreference | sensor heartbeat lost |
    tamper | tampering | stopped .. sensor | sensor service | antivirus service | amsi bypass |
    uninstall .. sensor | wevtutil cl | clear eventlog | driver load | defender .. disabled |
    antivirus .. disabled | edr .. disabled | edr .. stopped | agent .. killed | exclusion added |
    add mppreference | firewall .. disabled | auditd .. stopped | fltmc unload |
    sysmon .. unload* | edr kill* | byovd | patches etw | disable .. defender | stop .. defender |
    disables .. protection | disabled .. protection | exclusion .. c | security tools .. stopped |
    stopped .. security | sensor lost | process of the sensor ended | service of the sensor`,
  log_cleared: `
    audit log was cleared | audit log cleared | security log .. cleared | event log .. cleared |
    event logs .. cleared | log was cleared | logs were cleared`,
  discovery: `
    nltest | net group .. domain | whoami | ipconfig all | adfind | bloodhound | sharphound |
    net user domain | search password | mailbox search | compliancesearch |
    new compliancesearch* | getcalleridentity | listbuckets | systeminfo | quser | net view |
    net localgroup | dsquery | enumerat* .. domain | powerview | advanced ip scanner |
    softperfect | listusers | listroles | describeinstances | get aduser | internal .. port scan`,
  exfiltration_tool: `
    winscp | mega nz | pastebin | transfer sh | gofile | telegram bot | discord webhook |
    mass download | bulk download | personal cloud | personal .. drive | rclone | megasync |
    mega io | curl .. post | curl f | curl .. upload | exfiltration |
    instancecredentialexfiltration | anomalousbehavior | filezilla | anonfiles | file io |
    wetransfer | personal dropbox | personal google | personal onedrive | personal gmail |
    personal account | personal storage | private mailbox | private mail | freefilesync |
    megacmd | pscp | tar .. curl | private cloud | staged .. archive | archive .. upload*`,
  script_host: `
    wscript | cscript | script engine | scriptlet | sct | postinstall | install script |
    osascript | run dialog | runmru | mshta | hta file | jscript | vbscript | preinstall`,
  tunnel: `
    high entropy | dns tunnel | dns tunneling | dns tunnelling | iodine | dnscat | dnscat2 |
    dns2tcp | dns exfiltration | exfiltration .. dns | data .. over dns | txt queries`,
  download_sample: `
    autoexec | document open | autoopen | auto open | macro .. enabled | builds a blob |
    html smuggling | downloaded file | archive member | remote template | obfuscation |
    enable content | enable macros | vba project | lnk .. powershell | shortcut .. powershell |
    macro .. powershell | auto execut*`,
  office_parent: `
    winword exe | excel exe | powerpnt exe | outlook exe | onenote exe | child of office |
    office .. child | office .. spawn*`,
} as const;

/** What is done to web servers, in the words of the tools that guard them. */
export const WEB_SIGNS = {
  web_attack: `
    sql injection | sqli | path traversal | directory traversal | command injection |
    code injection | remote code execution | file inclusion | cross site scripting | xss |
    log4shell | jndi | server side request forgery | ssrf | template injection | xxe |
    insecure deserialization | deserialization exploit | deserialization attack | unsafe deserialization | shellshock | rce`,
} as const;

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

export const SIGN_PHRASES = {
  ...MAIL_SIGNS,
  ...ENDPOINT_SIGNS,
  ...ACCOUNT_SIGNS,
  ...ORDER_SIGNS,
  ...WEB_SIGNS,
} as const satisfies Readonly<Record<string, string>>;

export type Sign = keyof typeof SIGN_PHRASES;

export const SIGNS = new Lexicon<Sign>(SIGN_PHRASES);
