import { Lexicon } from './phrases.js';

/*
 * Phrases of each sign, separated by `|`. `..` stands for up to eight other words, and `*` for any ending. A sign only counts
 * against an event, because a text can lie, but an attacker does not lie to look guilty.
 */

/** Requests of mails and pages. */
export const MAIL_SIGNS = {
  account_threat: `
    account .. verloopt | account .. geblokkeerd | postfach .. voll | passwort läuft .. ab |
    mot de passe .. expire | contraseña .. caduca | password .. scade | mailbox storage | quota |
    deactivat* | unusual activity | security alert | payment failed | billing problem | tax refund |
    suspension | account .. closed | account .. disabled | reset .. password | verify .. identity |
    confirm .. password | password .. expire* | account .. expire* | account .. suspended |
    account .. locked | mailbox .. full | verify .. account | confirm .. account |
    confirm .. identity | re enrol* | renew .. 2fa | revalidate | re validate | session ends |
    unusual sign in | konto .. gesperrt | reauth* | update .. account | enrol .. authenticator |
    storage .. full | account will be | keep your messages | messages .. held | held messages |
    pending messages | undelivered messages | quarantined messages | mailbox .. upgrade |
    verify your mailbox | re authenticate | unusual login | account .. restricted |
    account .. limited | account .. on hold | release .. messages | password .. today |
    access .. revoked | konto .. bestätigen | steuererstattung | votre compte .. suspendu |
    compte .. bloqué | remboursement .. impôts | cuenta .. bloqueada | cuenta .. suspendida |
    account .. bloccato | rekening .. geblokkeerd | confirm .. it was you`,
  sign_in_request: `
    melden sie sich .. an | meld je aan | bevestig uw | bevestig binnen | bestätigen sie ihr |
    confirmez votre | confirme su | conferma il tuo | sign in | log in | login .. account |
    work account | enter .. code | enter .. password | corporate sign | identifiez vous | anmelden |
    connectez vous | accedi | scan .. code | scan .. phone | inicie sesión | confirm your password |
    verify your password | log into | login to | view document | access .. document | scan the qr |
    scan this | use your phone .. scan | qr code | verify .. mailbox | sign on | re login`,
  asks_secrets: `
    passwd | password | passwort | cardnumber | card number | cvv | otp | seed phrase | 24 words |
    recovery phrase | wallet | social security | date of birth | card details | pin code |
    loginfmt | mot de passe`,
  card_request: `
    bestätigen .. kreditkarte | kreditkarte .. bestätigen | kreditkartendaten | kartennummer |
    confirm .. card | verify .. card | enter .. card number | update .. card | card .. verify |
    card details .. fee | numéro de carte | carte bancaire .. confirm* | tarjeta .. confirm* |
    número de tarjeta | numero della carta | creditcardgegevens`,
  seed_phrase: `
    seed phrase | 24 words | 12 words | recovery phrase | recovery words`,
  payment_change: `
    neues konto | neue iban | bankgegevens | rekeningnummer .. gewijzigd | nieuwe rekening |
    nouvel iban | nouveau rib | changement de rib | nueva cuenta | cuenta bancaria | nuovo iban |
    bankdaten | routing number | account number | beneficiary | change .. payment | changed banks |
    updated bank | updated banking | banking details | ach details | swift | new account |
    new bank | bank details | bank .. account | change .. iban | iban .. change* | direct deposit |
    wire instructions | wiring instructions | wire the | wire transfer | kontonummer |
    bankverbindung | updated wire | nuovo conto | nouveau compte | coordonnées bancaires |
    payment details .. changed | changed .. bank | different account | pay details |
    salary account | another bank | different bank | new iban | new payment details |
    payment instructions | remittance details | remit to | updated remittance | bank information |
    banking information | account details .. change* | change .. account details | update .. bank |
    receiving account | changed .. account | to the new one | account .. under review`,
  money_request: `
    transfer | transfers | invoice | invoices | payment | overdue | remittance | advance of |
    payroll | salary | faktura | rechnung | fattura | facture | wire | deposit | instalment |
    installment`,
  gift_cards: `
    buy .. cards | purchase .. cards |
    guthabenkarte* | geschenkkarte* | gutscheinkarte* | gutscheincodes | carte* cadeau* |
    tarjeta* .. regalo | cadeaukaart* | cadeaubon* | buoni regalo | carte regalo | gift card |
    gift cards | giftcards | voucher codes | itunes cards | scratch off the code |
    scratch the card | scratch .. send | steam cards | apple cards | amazon cards`,
  secrecy: `
    vertraulich | confidentiel | confidencial | vertrouwelijk | riservato |
    sprechen sie mit niemandem | n en parlez | confidential | between us | do not discuss |
    discretion | tell no one | nobody else | in a meeting | cannot talk | this channel |
    tell nobody | do not call | no calls | cannot .. call | discreet | non disclosure | nda |
    do not involve | do not share | keep this quiet | quiet until | not mention |
    without informing | do not tell | between you and me | private matter | sensitive matter |
    cannot take calls | reply only | only by mail | only by email | only you and`,
  sensitive_list: `
    payroll list | salary list | customer list | list of employees | tax form | w 2s | tax forms |
    w 2 | w2 | payslips | aging report | ageing report | employee list | tax .. staff |
    personnel files | tax certificates | passport copies | copies of passports |
    list of .. customers | vendor list | salary .. spreadsheet | employee data | staff list`,
  call_back: `
    cancel .. call | to cancel | call .. within | toll free | call support | contact .. billing |
    contact .. support | contact .. desk | call .. immediately | call our | call us |
    call the number | dial | helpline | hotline | customer care | our agents | billing desk |
    refund .. call | speak .. agent | support number | phone support | ring us | ring .. within |
    did not authorise | did not authorize`,
  charged: `
    charged | renews | renewal | subscription | auto renew | purchase .. confirmed | your purchase |
    order .. confirm* | debited | invoice paid | purchase of | protection plan | membership |
    your order | payment of .. received | deducted | taken from your account | was taken from |
    for renewing`,
  extortion: `
    recorded you | full control of your | your webcam | send bitcoin | pay .. bitcoin |
    bitcoin wallet | btc wallet | bitcoin address | bitcoin to | in bitcoin | worth of bitcoin |
    compromising video | compromising material | compromising photos | hacked your |
    i have access to your`,
  parcel_fee: `
    delivery failed | failed delivery | parcel | customs charge | customs fee | redelivery |
    address incomplete | reschedule .. delivery | unpaid toll | shipping fee | customs duty |
    delivery .. fee | package .. fee | package .. held | package could not | package .. on hold |
    package .. waiting | your package .. address | paket .. zollgebühr | paket .. nicht zugestellt |
    ihr paket .. wartet | colis .. frais | colis .. en attente | paquete .. aduana`,
  voicemail: `
    voice message | voicemail | scanned image | fax message | document .. shared | secure message |
    please sign | review and sign | geschütztes dokument | protected document | missed call |
    new fax | esign | e signature | e sign | signature request | signature requested |
    completed document | shared a file | shared a document | shared a folder | has shared |
    file shared | encrypted message | secure document | payment advice | remittance advice |
    salary adjustment | document for review | shared with | waiting for your signature |
    ready to sign | sent you | für sie freigegeben | hat .. freigegeben | hat .. geteilt |
    a partagé | ha compartido | heeft .. gedeeld | ha condiviso`,
  archive_password: `
    archive password | zip password | password .. archive | passwort .. archiv`,
  device_code: `
    devicecode | device code | login .. device | device .. enter the code`,
  unsolicited: `
    prize | you won | winner | reward | rewards | voucher | lottery | inheritance | claim your |
    limited offer | million dollars | million usd`,
  impersonation: `
    impersonation | lookalike | look alike | display name from outside | similar domain |
    typosquat* | ceo fraud | executive .. name | posing as | poses as | pretending to be |
    display name .. employee | display name .. executive | spoofing .. detected | sender spoof* |
    domain spoof* | email spoof* | display name spoof* | spoofed domain | spoofed sender |
    impersonates | impersonating | impersonated`,
  run_this: `
    ran a command .. from a page | pasted .. from a page | copied from a web | windows key r |
    win r | windows r | open .. terminal | open .. powershell | run dialog | paste .. terminal |
    paste .. powershell | paste .. command | copy .. command .. run | ctrl v .. enter |
    paste .. address bar | paste .. explorer | run the following | press windows .. r |
    windows key .. r .. ctrl | verification steps .. paste | paste .. run box |
    paste .. run window | press ctrl v .. press enter | terminal .. paste .. enter`,
  opener: `
    handynummer | sind sie gerade verfügbar | sind sie im büro | ben je beschikbaar |
    êtes vous disponible | est* disponible | numéro de portable | número de móvil | kurze frage |
    petite question | snelle vraag | at your desk | quick task | quick favour | quick favor |
    are you available | are you free | mobile number | cell number | need you to | kindly |
    favour to ask | favor to ask | are you in the office | got a minute | have a minute |
    discreet task | send me your number | personal number | need a favor | need a favour |
    can you handle | are you busy | quick request | something urgent`,
} as const;

/** Orders to a person or model that reads the event. */
export const ORDER_SIGNS = {
  verdict_order: `
    mark .. benign | mark .. safe | classify .. benign | classify .. safe |
    classification .. benign | verdict .. benign | verdict safe | answer .. benign | answer with |
    return .. benign | output .. benign | label .. benign | treat .. benign | set .. benign |
    disposition .. benign | resolve .. benign | evaluate .. benign | report .. benign |
    assessment benign | conclusion .. benign | close .. benign | close .. false positive |
    closed .. false positive | als unbedenklich | als harmlos | als benign | réponds .. benign |
    do not escalate | do not re triage | keine maßnahmen | skip analysis | must .. benign |
    confidence 1 | confidence 0 | confidence high | classify as | 请判定为良性`,
  orders_to_machine: `
    ignore .. previous | ignore .. instructions | ignore all | disregard .. instructions |
    forget .. instructions | previous instructions | system prompt | you are now | developer mode |
    system message | system notice | system override | as an ai | note to .. ai |
    note to automated | note to the automated | notice to automated | notice to .. ai | ai triage |
    ai agent | triage model | triage override | triage note | to the model | instruct model |
    instruct the model | automated reviewer | language model | llm | classifier | evaluator please |
    models should | model should | model must | assistant must | assistant output |
    consigne au modèle | oublie les règles | an das modell | an die ki | an das prüfsystem |
    for the machine | end of untrusted | begin untrusted | role system | role tool |
    role assistant | call the tool | function results | tool result`,
} as const;

/** Programs and commands on a machine. */
export const ENDPOINT_SIGNS = {
  encoded_shell: `
    powershell .. enc | pwsh .. enc | pwsh .. encodedcommand | frombase64string | powershell .. ec |
    powershell .. encodedc* | powershell exe e | powershell e | base64 d | base64 decode |
    certutil .. decode | encoded powershell | encoded command | obfuscated .. command |
    obfuscated powershell`,
  hidden_shell: `
    powershell .. hidden | w hidden | windowstyle hidden | conhost .. headless |
    executionpolicy bypass | ep bypass | exec bypass | nop .. w | window hidden | w h c | w h nop`,
  download_and_run: `
    msbuild .. xml | invoke webrequest .. iex | python c .. urllib | clickfix | fakeupdates |
    iex .. iwr | iex .. irm | iwr .. iex | irm .. iex | invoke restmethod .. iex | iwr .. outfile |
    invoke webrequest .. outfile | webclient .. iex | iwr .. invoke expression |
    irm .. invoke expression | invoke webrequest .. invoke expression | iex .. webclient |
    invoke expression .. webclient | downloadstring | curl .. bash | wget .. bash |
    certutil .. urlcache | bitsadmin .. transfer | mshta .. http | mshta .. https |
    mshta javascript | mshta vbscript | regsvr32 .. http | regsvr32 .. https | msiexec .. http |
    msiexec .. https | rundll32 javascript | rundll32 .. http | scrobj dll |
    wmic .. format .. http | wget .. chmod | curl .. chmod | regsvr32 .. scrobj | certutil .. http |
    certutil .. https | desktopimgdownldr | bash c curl | invoke webrequest .. start process |
    iwr .. start process | download* .. and execut* | fetch* .. and execut* | hh exe .. http |
    iex .. http | iex .. https | curl .. rundll32 | downloadfile .. start process |
    downloadfile .. invoke | ingress tool transfer .. execut*`,
  fetches_script: `
    installutil | regasm | cmstp | odbcconf | start bitstransfer | curl .. sh | wget .. sh |
    curl .. python | wget .. python | curl .. perl | wget .. tmp | curl .. tmp |
    download* .. and run* | downloadfile | wget .. chmod | ingress tool transfer |
    curl .. o .. tmp | tftp .. get`,
  credential_dump: `
    rubeus | lazagne | impacket | crackmapexec | netexec | credentialaccess .. lsass |
    comsvcs dll .. minidump | comsvcs .. minidump | procdump .. lsass | lsass .. dump* |
    dump* .. lsass | minidump .. lsass | lsass .. minidump | lsass .. dmp | access to lsass |
    access lsass | accesses lsass | accessed lsass | lsass access | opens lsass | opened lsass |
    reads lsass | read lsass | reading lsass | memory of .. lsass | inject* .. lsass |
    lsass inject* | sekurlsa | mimikatz | ntds dit | reg save .. sam | credential dumping |
    secretsdump | lsass memory | nanodump | pypykatz | lsassy | silentprocessexit | sam hive |
    save hklm sam | save hklm security | lsa secrets | hashdump | gsecdump | credential theft |
    vbrcredentials | ticket dump | dump .. credentials | credentials .. dumped | dumps credentials |
    lsass process memory | ntds .. copied | copied .. ntds | dumping .. credentials |
    ntds extraction | vss .. ntds | handlekatz | dumpert | dcsync | safetykatz | kekeo |
    sharpdpapi | mimipenguin | rundll32 .. minidump | createdump .. lsass | ntdsutil .. ifm |
    ntdsutil .. create full`,
  sensitive_file: `
    read sensitive file untrusted | search private keys | cat etc shadow | etc shadow .. read |
    read .. etc shadow | cp etc shadow | unshadow | aws credentials .. read | cat .. id rsa |
    169 254 169 254 .. iam | env base64 | printenv .. base64 | latest meta data iam | find .. id rsa | grep .. password`,
  credential_store: `
    login data | library keychains | keychain dump* | dump* .. keychain | cp .. keychain |
    copy .. keychain | read* .. keychain | keychain .. read* | document cookie | credential store |
    cookies sqlite | dscl .. authonly | wallet dat | stealer | infostealer | lummastealer |
    passwords .. browser | browser .. passwords | saved passwords | stored passwords |
    browser credentials | cookies .. copied | session tokens .. browser | keepass .. export |
    seed .. wallet | environment variables .. sent | environment variables .. post* |
    posts .. environment | aws credentials | formbook | credential theft | npmrc .. read |
    read .. npmrc | id rsa .. read | read .. id rsa | copied .. id rsa | cat .. id rsa | lumma |
    metastealer | stealc | vidar | redline .. steal* | browser cookies .. read | cookies .. stolen |
    dpapi .. master key | web data .. copied | kdbx .. copied | credential manager .. dumped |
    vaultcmd list`,
  backups_destroyed: `
    vssadmin delete | delete shadows | wbadmin delete | vim cmd .. power off |
    resize shadowstorage | bcdedit .. ignoreallfailures | wmic shadowcopy | shadowcopy .. delete |
    shadow copies .. deleted | shadow copies .. removed | wbadmin .. delete catalog |
    delete systemstatebackup | diskshadow .. delete | vssadmin .. resize | all backups .. deleted |
    deleted all backups | deletes all snapshots | veeam .. backups .. deleted |
    esxcli .. vm .. kill | bcdedit .. recoveryenabled | delete .. restore points |
    restore points .. deleted`,
  backups_removed: `
    backup deletion | vms powered off | snapshots deleted | delete .. snapshots |
    backups .. deleted | backup .. deleted | deleted .. backups | recovery .. disabled |
    virtual machines stopped | backup catalog | delete catalog | immutability .. disabled |
    retention .. disabled`,
  ransomware_words: `
    blackcat | alphv | revil | decrypt instructions | readme .. restore | restore my files |
    ransomware | ransom note | files encrypted | mass encryption | encrypted files |
    how to decrypt | lockbit | akira ransom* | conti ransom* | black basta | blackbasta | cl0p |
    rhysida | ryuk | babuk | qilin | phobos | blackmatter | bianlian | file encryption |
    encrypting files | encrypts files | files were encrypted | clop ransom* | ransom demand |
    ransom payment | files encryptor | file encryptor | medusa ransom* | medusalocker | ransomhub |
    ransom hub | play ransom* | royal ransom* | blacksuit | hunters international | 8base |
    akira .. encrypt* | inc ransom* | dragonforce | safepay | lynx ransom* | cactus ransom* |
    hive ransom* | maze ransom* | snatch ransom* | vice society | avoslocker | darkside ransom* |
    cuba ransom* | trigona | noescape | blackbyte | esxiargs | wannacry | notpetya |
    encrypt* for impact | suspicious encryption | how to recover .. files | how to restore .. files | mallox | stop djvu |
    makop | globeimposter | bitlocker .. ransom | fog ransom* | interlock ransom* | ransom win32 |
    ransom win64 | ransom linux | ransom msil | ransom w32 | ransom python`,
  ransom_note: `
    ransom note dropped | ransom note found | ransom note created | ransom note written |
    ransom notes | recover .. in every folder | restore .. in every folder | decrypt instructions |
    recovery instructions .. txt | ransom message`,
  encrypted_files: `
    files .. encrypted | files .. locked | locked files | encrypted .. files | extension locked |
    extension .. encrypted | shares .. encrypted | cannot open .. files | encrypted by | locked by`,
  ransom_demand: `
    note .. bitcoin | note .. btc | note .. monero | note .. ransom | asks for bitcoin |
    asking for bitcoin | demand* .. bitcoin | demand* .. ransom | demand* .. payment | ransom note |
    ransom demand | note .. pay | pay .. decrypt* | recover your files | restore your files |
    your files are | your files have | files have been encrypted`,
  miner: `
    kinsing | kdevtmpfsi | coin mining | crypto mining | cryptomining | mining malware |
    mining software | mining process | mines coins | mining .. coins | cryptocurrency mining |
    cryptocurrency miner | bitcoin miner | xmr miner | coinhive | cpuminer | minerd | mining pool |
    mining protocol | cryptominer | coinminer | bitcointool | nicehash | monero | xmrig* |
    ethminer | nbminer | phoenixminer | lolminer | kworkerds | moneroocean | nanopool | supportxmr |
    minexmr | hashrate | randomx | cryptonight | cryptojacking | coin miner |
    cryptocurrency .. pool | stratum tcp | stratum ssl`,
  rat: `
    anydesk .. unattended | dev tcp | nc e | brute ratel | dcrat | xworm | asyncrat | remcos |
    njrat | quasarrat | agenttesla | cobalt strike | cobaltstrike | meterpreter | reverse shell |
    remote access trojan | havoc c2 | quasar rat | c2 server | c2 channel | command control server |
    ligolo | frpc | plugx | shadowpad | gh0st | netwire | nanocore | darkcomet | strrat |
    netsupport rat | msfvenom | bind shell | pty spawn | socket .. subprocess | metasploit |
    sliver | mythic agent | poshc2 | netcat remote code | redirect stdout stdin | c c activity |
    c c server | cnc activity | cnc server | cnc traffic | cnc checkin | malware checkin |
    rat checkin | trojan checkin | et cnc | plink .. r | backdoor | ngrok tcp | ngrok .. 3389 |
    chisel client | chisel server | dll sideloading | dll side loading | side loaded dll |
    command and control server | command and control traffic | known command and control |
    known command control | c2 domain | c2 callback | c2 communication | c2 beacon |
    malicious implant | netsupport manager .. appdata | venomrat | orcus rat | warzone rat |
    avemaria rat | bitrat | limerat | sectoprat | arechclient | dark crystal rat | sparkrat | pupy |
    merlin agent | nighthawk c2 | bruteratel | covenant grunt | empire agent | nps tunnel | fscan |
    gost tunnel | reverse tunnel`,
  remote_support: `
    remote access tool | remote administration tool | remote monitoring and management |
    remote support tool | remote access software | rmm tool | rmm software`,
  loader_family: `
    wacatac | qbot | gootloader | latrodectus | pikabot | darkgate | socgholish | mirai | zloader |
    emotet | qakbot | icedid | guloader | trickbot | ursnif | gozi | smokeloader | dridex |
    hancitor | amadey | danabot | systembc | raspberry robin | bazarloader | matanbuchus |
    hijackloader | asyncloader | nemucod | stealc | rhadamanthys | bumblebee | wikiloader |
    d3f ck loader | fakebat | batloader | clearfake | privateloader | gcleaner | hijack loader |
    idat loader | doiloader | dbatloader | modiloader | suncrypt | xloader | nymaim |
    snake keylogger | phemedrone | lokibot | agent tesla | koi loader | mintsloader | castleloader |
    oyster backdoor | broomstick`,
  beacon: `
    beacon | beaconing | calls home | periodic connection* | regular interval* | fixed interval*`,
  malware_family: `
    trojan | trojaned | trojandownloader | worm like | variant loader | malware loader |
    loader malware | exploit attempt* | exploit detected | exploit blocked | exploit kit |
    exploit activity | exploit public | webshell | web shell | hacktool | botnet | keylogger |
    spyware | wiper | malicious software | shellcode | process injection | process hollowing |
    malicious driver | malicious document | malicious macro | malicious package | trojanized |
    trojanised | dependency confusion | injected .. process | code injected | remote thread |
    fileless execution | memfd create | container escape | nsenter | et malware | coinminer |
    exploit_kit | escape to host | virus detected | virus found | virus alert | virus infection |
    virus win32 | virus w32 | virus dos | virus linux | infected .. virus | virus .. quarantined |
    virus .. cleaned | virus .. blocked | worm win32 | worm w32 | worm detected | worm found |
    network worm | worm .. spread* | worm infection | email worm | a worm | malware downloader |
    downloader malware | downloader win32 | was exploited | actively exploited | being exploited |
    successful exploitation | exploitation of | exploitation attempt | exploitation detected |
    exploitation activity | reflective loading | reflective dll | malware dropper |
    dropper malware | dropper detected | trojandropper | rootkit detected | rootkit found |
    rootkit activity | rootkit installed | kernel rootkit | hidden by rootkit | mirai | gafgyt |
    xorddos | bpfdoor | symbiote rootkit | perfctl | 8220 gang | teamtnt | worm .. usb |
    called .. virus | told .. virus | your computer .. virus | shai hulud | s1ngularity`,
  unwanted: `
    adware | pua | pup | potentially unwanted | riskware | keygen | browser hijacker | crack exe |
    cracked software | software bundler | bundler .. unwanted | unwanted software | hktl crack |
    browser extension .. malicious`,
  attacker_seen: `
    malicious activity | known adversary | suspected adversary | hands on keyboard |
    hands on activity | stolen session | cookie was stolen | malicious file was found |
    ddos attack | denial of service attack | executing binary not part of base image |
    drop and execute new binary | interactive attacker | ransomware operator | active adversary |
    threat actor .. activity | multi stage attack | human operated | attack disruption |
    lateral movement .. detected`,
  persistence: `
    reg add .. run | schtasks | hkcu .. run | hklm .. run | launchdaemons | wmi subscription |
    event consumer | task created | run key | currentversion run | startup folder | launchagents |
    systemd service .. created | authorized keys | sc create | service installed | runonce |
    image file execution | winlogon shell | com hijack* | login item | launch agent |
    launch daemon | rc local | ld so preload | ld preload | shell startup | new scheduled task |
    write below binary | modify binary dirs | new local user | net user .. add | crontab e |
    crontab r | etc crontab .. modif* | cron job .. added | new cron job | cron .. curl |
    cron .. wget | etc cron .. created | autorun key | autoruns .. new | userinit .. modified |
    systemctl enable .. tmp | new service created | write below etc | backdoor user | hidden user |
    net localgroup administrators .. add | useradd .. 0 | nopasswd | etc sudoers .. modif* |
    etc sudoers .. write | wmi .. filter to consumer | screensaver .. persistence |
    bits job .. notify | netsh helper | appinit dlls | print monitor .. dll | active setup |
    autorun inf | autorun .. removable | autorun worm | usb autorun`,
  remote_service: `
    new service | remote execution | sc .. create | pass the hash | passthehash | overpass |
    admin share | service created remotely | psexec | psexesvc | wmiexec | smbexec | admin .. exe |
    wmiprvse | winrm .. invoke | lateral movement | process call create | rdp to many |
    rdp .. many hosts | smb to many hosts | ssh to many hosts | atexec | dcomexec`,
  defence_off: `
    sc stop .. windefend | taskkill .. defender | advfirewall .. off | auditpol .. clear |
    setenforce 0 | history c | protection turned off | disabled real time | disable .. real time |
    disablerealtimemonitoring | set mppreference | stopped .. sensor | amsi bypass |
    uninstall .. sensor | wevtutil cl | clear eventlog | defender .. disabled |
    antivirus .. disabled | edr .. disabled | edr .. stopped | agent .. killed |
    firewall .. disabled | auditd .. stopped | fltmc unload | sysmon .. unload* | edr kill* |
    byovd | patches etw | disable .. defender | stop .. defender | disables .. protection |
    disabled .. protection | security tools .. stopped | tamper protection .. off |
    tamper protection .. disabled | tampered | tampering .. defender | tampering .. sensor |
    tampering .. edr | edr tampering | security tool tampering | defense evasion .. tampering |
    sensor tampering | agent tampering | amsi .. patched | bcdedit .. safeboot | exclusionpath c |
    exclusionpath .. users | exclusionpath .. temp | exclusionpath .. programdata |
    exclusionextension | exclusionprocess | protection disabled by |
    real time protection .. disabled | real time protection .. off | kills .. edr |
    terminat* .. edr | etw .. patched | unhook* .. ntdll | edrsilencer | backstab | killav |
    aukill | terminator .. driver | security log .. stopped |
    unifiedauditlogingestionenabled false | stopped .. security tools | stop .. security tools`,
  protection_gap: `
    sensor stopped | sensor lost | sensor heartbeat lost | process of the sensor ended |
    service of the sensor | agent uninstalled | sensor uninstalled | exclusion added |
    add mppreference | antivirus service .. stopped | sensor service .. stopped |
    protection disabled | logging disabled | antivirus .. stopped | driver load .. unsigned |
    stopped .. security service | tampering | exclusion .. c users | exclusion .. temp`,
  log_cleared: `
    audit log cleared | security log .. cleared | event log .. cleared | event logs .. cleared |
    log was cleared | logs were cleared | cleared .. history | deleted .. history |
    history .. cleared | history .. deleted`,
  discovery: `
    nltest | net group .. domain | whoami | adfind | bloodhound | sharphound | net user domain |
    search password | mailbox search | compliancesearch | new compliancesearch* | quser | net view |
    net localgroup | dsquery | enumerat* .. domain | powerview | advanced ip scanner | softperfect |
    get aduser | internal .. port scan | net accounts domain | ping castle | pingcastle | adrecon |
    ldapdomaindump | enum4linux | kerbrute | winpeas | linpeas | seatbelt exe |
    rolesanywhere .. enumerat* | cloudfox | pacu | scoutsuite | azurehound | roadrecon | soaphound |
    scans internal | scans .. internal network | internal network scan | network sweep |
    internal reconnaissance | host scans`,
  exfiltration_tool: `
    sent to private | upload* .. personal | exported all | exports all | exported .. usb |
    copied .. usb | csv .. usb | to usb | mega nz | transfer sh | gofile | telegram bot |
    discord webhook | mass download | bulk download | personal cloud | personal .. drive | rclone |
    megasync | mega io | curl .. upload | instancecredentialexfiltration | anonfiles |
    personal dropbox | personal google | personal onedrive | personal gmail | personal storage |
    private mailbox | freefilesync | megacmd | tar .. curl | staged .. archive |
    archive .. upload* | data exfiltration | exfiltration over | exfiltration to |
    exfiltration attempt | exfiltration detected | exfiltrated | exfiltration of | s3 browser |
    azcopy | restic .. backup .. rest | goodsync | dropbox uploader | mega .. upload | bashupload |
    temp sh | oshi at | curl t | curl .. data binary | post .. archive | personal webdav |
    to personal | private gmail | to removable | usb .. copied | removable .. copied`,
  staged_archive: `
    7z a .. p | 7za a .. p | rar a .. hp | rar .. hp | 7z .. mhe | winrar .. hp |
    compress archive .. temp | makecab .. temp | tar czf .. tmp | zip .. password .. temp`,
  transfer_tool: `
    pastebin | wetransfer | filezilla | winscp | pscp | curl f | curl .. post | private mail |
    private cloud | personal account`,
  script_host: `
    wscript | cscript | script engine | scriptlet | sct | postinstall | install script | osascript |
    run dialog | runmru | mshta | hta file | jscript | vbscript | preinstall`,
  tunnel: `
    high entropy | dns tunnel | dns tunneling | dns tunnelling | iodine | dnscat | dnscat2 |
    dns2tcp | dns exfiltration | exfiltration .. dns | data .. over dns | txt queries`,
  office_parent: `
    winword exe | excel exe | powerpnt exe | outlook exe | onenote exe | child of office |
    office .. child | office .. spawn*`,
} as const;

/** Attacks on web servers, in the words of the tools that guard the servers. */
export const WEB_SIGNS = {
  web_attack: `
    sql injection | sqli | path traversal | directory traversal | command injection |
    code injection | remote code execution | file inclusion | cross site scripting | xss |
    log4shell | jndi | server side request forgery | ssrf | template injection | xxe |
    insecure deserialization | deserialization exploit | deserialization attack |
    unsafe deserialization | shellshock | rce attempt | rce exploit | rce detected | spring4shell |
    proxyshell | proxylogon | struts .. exploit | webshell upload | citrixbleed |
    moveit .. exploit | ognl injection | cve 2021 44228 | lfi attempt | web shell`,
} as const;

/** Events of accounts. */
export const ACCOUNT_SIGNS = {
  travel: `
    geographically improbable | geo impossible | travel anomaly | impossible travel |
    unlikely travel | unlikelytravel | impossibletravel | atypical travel | atypicaltravel |
    improbable travel | geo velocity | two countries within | two countries in | two places within |
    from two countries | different countries within`,
  new_place: `
    new device | unrecognised device | unrecognized device | anomalous sign | anomalous login |
    unusual location | unusual country | new country | new geo | unfamiliar features |
    unfamiliarfeatures | new location | first country | unfamiliar location | unfamiliar sign in |
    anomalous token | context .. change | new asn | new browser | unfamiliar device |
    unknown device | first time .. country | unusual asn | atypical location | never used before |
    not seen before | never seen | never logged on | never used | new ip address | unknown location`,
  hidden_network: `
    malicious ip | maliciousipaddress | anonymizer | anonymiser | vpn exit | residential proxy |
    botnet .. ip | tor exit | anonymised address | anonymized ip | anonymizedipaddress |
    anonymous proxy | anonymous ip | unknown proxy | bulletproof | tor node | tor network |
    tor browser | tor relay | consumer vpn | anonymous vpn | m247 | nordvpn | mullvad | torclient |
    riskyipaddress | maliciousipcaller | hosting provider | hosting network | hosted vps |
    vps provider | datacenter ip | data center ip | data centre ip | datacentre ip |
    cloud provider ip | open proxy | commercial vpn | anonymizing | anonymising | toripcaller |
    tor ip caller | proxy network | protonvpn | surfshark | expressvpn | residential proxies`,
  token_reuse: `
    cookies .. reused | sessions .. reused | tokens .. reused | session cookies .. from |
    cookie .. reused | token .. reused | adversary in the middle | aitm | evilginx | stolen cookie |
    stolen token | token replay | token theft | session hijack* | pass the cookie |
    anomalous token | cookie replay | session replay | token reuse | reused session | evilproxy |
    tycoon | same session .. different | session token .. stolen | refresh token .. used |
    replayed | attackerinthemiddle | anomaloustoken | tokenissueranomaly | primaryrefreshtoken |
    session cookie .. stolen | session cookie .. replay* | stolen session cookie |
    same session .. new country | primary refresh token .. theft | session continued from |
    suspicious .. primary refresh token | possible attempt to access primary refresh token |
    attacker in the middle`,
  legacy_protocol: `
    imap | pop3 | bav2ropc | smtp auth | legacy auth* | basic authentication | ropc | mapi .. legacy`,
  guessing: `
    passwordspray | many failed | multiple failed | failed logons | failed logins |
    failed login attempts | dictionary attack | spray | few passwords | brute force | bruteforce |
    credential stuffing | failed .. logons by source | failed vpn logons | password guessing |
    invalid users | failed sign ins | failed authentications | authentication failures |
    password attack | login failures`,
  guessed: `
    failures followed by a success | failures followed by success* |
    failed .. followed by a success | failed .. followed by success* | success after many failed |
    success after multiple failed | success after many failures | success after multiple failures |
    success .. many failures before | brute force .. succeeded | guessing .. succeeded |
    failed .. then one that worked | failed .. then one that succeeded | failed .. then succeeded |
    failed .. then a success* | success* .. after many fail* | success* .. after multiple fail*`,
  stuffing: 'credential stuffing | reuse list | account checker',
  push_denied: `
    denied | rejected | not recognised | fraud reported | reported .. fraud | mfa fatigue |
    push bombing`,
  push_flood: `
    mfa fatigue | push fatigue | push bombing | mfa bombing | prompt bombing | mfa spam* |
    push spam* | push flood* | repeated push | push notifications .. denied |
    mfa prompts .. denied | repeated mfa | many push`,
  push_gave_in: `
    push .. denied .. approved | pushes .. denied .. approved | prompts .. denied .. approved |
    mfa .. denied .. approved | requests denied .. approved | denied .. prompts .. approved |
    denied .. pushes .. approved | denied .. times .. approved | push .. rejected .. approved |
    prompts .. rejected .. approved | mfa .. rejected .. accepted | denied .. push .. approved |
    declined .. push .. accepted`,
  fraud_report: `
    asked deny* | denied it | did not do it | without .. knowledge |
    did not request | did not order | did not approve | did not initiate | knows nothing |
    no knowledge of | did not authorise | did not authorize | report suspicious activity |
    reported suspicious activity | fraud reported | reported as fraud | was not me | mfa fraud |
    user denies | never requested | unknown to user | pressed yes | not recognise | not recognize |
    tapped approve | approved .. by mistake | approved .. annoy* | userreportedsuspiciousactivity |
    she denies | he denies | owner denies | denies .. sign in | denies .. login | denies having |
    user did not sign | did not sign in | did not log in | not me .. secure | did not do .. this |
    user never signed | user has no knowledge | user says .. not | did not sign up | did not call |
    did not make .. call | never called | has not called | did not send .. mail | did not write .. mail`,
  factor_changed: `
    factor activate | mfa factor | new authenticator | register device | device registered |
    reset mfa | number changed | authenticator enrolled | default authentication method |
    security info .. registered | temporary password | mfa disabled | new passkey |
    mfa method .. added | mfa reset | mfa removed | authenticator .. added |
    added .. authenticator | new mfa device | factor .. removed | phone number .. changed |
    factor reset | new phone .. registered | disable strong authentication | mfa attempt bypass |
    recovery address | authenticator .. replaced | registered security info | reset all factors |
    reset all authenticators`,
  inbox_rule: `
    rss subscriptions | rss feeds | forwarding rule | rule .. deletes | rule .. moves | hides mail |
    suspiciousinboxforwarding | mcassuspiciousinboxmanipulationrules | inbox manipulation |
    rule .. rss | moved to rss | inbox rule .. delete* | inbox rule .. hide* |
    inbox rule .. invoice | inbox rule .. payment | inbox rule .. forward* |
    mailbox rule .. delete* | mailbox rule .. forward* | mailbox rule .. hide* |
    suspicious inbox rule | malicious inbox rule | moves mail .. archive`,
  inbox_rule_made: `
    inbox rule | inboxrule | mailbox rule | updateinboxrules`,
  forwarding: `
    forwardingsmtpaddress | forwarding .. external | forwards .. external |
    redirect to .. external | forward .. external | external forwarding | forwardto | redirectto |
    forwardasattachmentto | forwarding .. gmail | forwarded .. outside | set mailbox .. forwarding |
    forwardingaddress | auto forward* .. external | autoforward* .. external |
    auto forwarding .. enabled | blindcopyto | redirectmessageto | smtp forwarding`,
  consent: `
    consent to application | consent grant | illicit consent | oauth app | publisher unverified |
    mail readwrite | mail send | offline access | user consent | granted consent | mail read |
    files readwrite | files read all | application permission* | full access as app |
    add service principal credential* | certificates and secrets management`,
  privilege: `
    global administrator | super administrator | super admin | privilege grant | domain admin |
    add member to role | privileged role | create application credential | company administrator |
    administratoraccess | role assigned | attachuserpolicy | attachrolepolicy | putuserpolicy |
    createpolicyversion | exchange administrator | security administrator | owner .. subscription |
    made .. administrator | putrolepolicy | putgrouppolicy | cluster admin |
    clusterrolebinding .. admin | poweruseraccess | iamfullaccess | grant .. super | made .. super |
    role owner .. granted | elevate access | user access administrator | application administrator |
    elevateaccess`,
  policy_weakened: `
    conditional access policy .. deleted | conditional access policy .. disabled |
    mfa policy .. disabled | mfa .. disabled for | security defaults .. disabled |
    mfa enforcement .. disabled | password policy .. weakened`,
  group_joined: `
    added .. domain admins | added .. enterprise admins | added .. schema admins |
    added .. administrators | new domain admin | new enterprise admin | joined .. domain admins`,
  cloud_log_off: `
    stoplogging | deletetrail | deleteflowlogs | deletedetector | audit logging disabled |
    diagnosticsettings delete | deletesink | stopconfigurationrecorder |
    deleteconfigurationrecorder | guardduty disabled | disable .. guardduty | trail .. stopped |
    trail deleted | logging .. turned off | sink deleted | audit log .. disabled |
    cloudtrail .. stopped | deleteeventselectors | puteventselectors .. none |
    updatetrail .. disabled | cloudtraillogging disabled | cloudtrailloggingdisabled |
    disable diagnostic log* | deletemembers .. guardduty | disableorganizationadminaccount |
    disassociatefrommasteraccount | archivefindings | audit policy .. disabled |
    updatedetector .. disabled | logging was disabled`,
  ticket_attack: `
    golden ticket | silver ticket | kerberoast* | dcsync | ticket anomaly | as rep roast* |
    asrep roast* | krbtgt hash | diamond ticket | sapphire ticket | ticket forgery |
    unconstrained delegation .. abuse | delegation abuse | s4u2self .. abuse | overpass the hash`,
  directory_attack: `
    dcsync | dcshadow | certipy | esc1 | esc8 | shadow credentials | pywhisker | whisker add |
    petitpotam | coercer | printerbug | spoolsample | zerologon | nopac | sam the admin |
    printnightmare | skeleton key | golden certificate | golden saml | adminsdholder .. modif* |
    sidhistory .. added | sid history .. injection |
    directory replication .. non domain controller | replication .. not a domain controller |
    ntlm relay | ntlmrelayx | responder .. llmnr | llmnr poisoning | krbrelayup`,
  leaked_secret: `
    public gist | found in public | leakedcredentials | leaked credentials | breach .. credentials |
    credentials .. dark web | infostealer log | instancecredentialexfiltration | publicly leaked |
    leaked key | secret scanning | stealer log | truffle* | secret access key | npm token |
    exposed credential | key .. public repository | credentials .. public | token .. public |
    private key .. exposed | exposed key | exposed token | leaked token | leaked password |
    leaked credential | key .. leaked | key .. committed | password .. breach | leaked access key |
    access key .. exposed | access key .. public | exposed access key | compromised access key`,
  service_desk_pretext: `
    lost phone | caller claims | caller says | could not name | reset anyway | employee number only | reset without | caller .. not verified |
    identity .. not verified | date of birth and .. reset | posing as help desk |
    posing as it support | posing as helpdesk | pretends to be help desk | pretending .. help desk |
    impersonat* .. help desk | impersonat* .. it support | fake help desk | fake it support`,
  support_session: 'quick assist | quickassist',
  exposed: `
    public read | publicly accessible | made public | anyone with the link | allauthenticatedusers |
    public bucket | bucket .. public | open to the internet | public access .. enabled |
    publicly readable | publicly writable | principal allusers | allusers .. read |
    allusers .. write | anonymous access .. enabled | anonymous access .. allowed |
    exposed to the internet | internet facing .. database | blockpublicaccess .. disabled |
    bucketblockpublicaccessdisabled | bucketanonymousaccessgranted | bucketpublicaccessgranted |
    deletepublicaccessblock | deleteaccountpublicaccessblock | publicly shared`,
  cloud_misuse: `
    unused region | gpu instances | many instances | instances launched | snapshot .. shared |
    snapshot .. public | getsecretvalue .. times | region .. never used |
    createvolumepermission .. all | crypto mining instances | large gpu | p4d | p5 48xlarge |
    snapshot copied .. account | shared .. external account | api token .. scope all |
    token .. created .. scope all | retention 365 1 day | sso enforcement off | sso .. disabled`,
} as const;

/** Words of tools about their findings. Their effect depends on the name of the value: see `looks.ts`. */
export const TOOL_SIGNS = {
  grave_word: `
    malicious | attack | attacker | compromis* | exploit* | exfil* | injection | backdoor | theft |
    stolen | steals | stealing | hijack* | credential access | credential dump* |
    credential harvest* | lateral movement | privilege escalation | command and control | c2 |
    malware | ransom* | phish* | evasion | tamper* | forged | bypass* | takeover | intrusion |
    weaponi* | rootkit | webshell | hacktool | hack | hacked | breach* | persistence | shellcode |
    masquerad* | spoof* | impersonat* | brute force | password spray* | kerberoast* |
    deserialization | poison* | cryptomin* | trojan | infostealer | keylog* | botnet | ddos |
    sabotage | fraud* | abuse | abused | leaked | reverse shell | obfuscat* |
    encoded command | mass delet* | mass download* | wiped | wiper | cleartext password |
    data loss | dropper`,
  odd_word: `
    suspicious | suspected | unusual | anomal* | abnormal | unexpected | unauthori* | unapproved |
    unfamiliar | unrecogni* | unverified | rare | first time | never seen | never before |
    new country | new device | new location | new geo* | impossible | atypical | risky | outlier |
    probe | probing | recon* | enumerat* | discovery | sweep | violation | blacklist* | denylist* |
    blocklist* | mismatch | disabled | turned off | killed | cleared | failed | failure | failures |
    rejected | threat | threats | excessive | spike | surge | burst | mass | repeated | multiple |
    anonymous | everyone | public | external | sensitive | elevated | escalated | vulnerab* |
    unsigned | hidden | encoded | covert | offline | unreachable | silent | lost | dormant | tor | outside .. hours | off hours |
    after hours`,
  ordinary_work: `
    completed | finished | succe* | renew* | rotat* | expir* | heartbeat | health | keepalive |
    synchroni* | sync | updat* | upgrad* | patch* | definitions | backup* | snapshot created |
    restor* | no threats | 0 threats | passed | compliant | disk | cpu | memory | oom |
    crash loop* | oomkilled | back off | latency | queue | uptime | started | restart* | reboot* |
    boot* | shutdown | power | battery | temperature | toner | print* | link up | link down |
    interface | failover | lease | dhcp* | dns quer* | ntp | meeting | calendar | viewed |
    previewed | opened | edited | synced | pulled | scheduled | scal* | autoscal* | deploy* |
    rollout | pipeline | workflow run | build | pull request | git push | git fetch | merged |
    logrotate | closed | ended | logoff | log off | logout | log out | signed out | disconnected |
    delivered | digest | newsletter* | automatic reply | generated | test alert | watchdog |
    resolved | recovered | checksum changed | dpkg | package .. installed | package .. removed |
    filesystem | file system | out of space | self service | error rate`,
} as const;

export const SIGN_PHRASES = {
  ...MAIL_SIGNS,
  ...ENDPOINT_SIGNS,
  ...ACCOUNT_SIGNS,
  ...ORDER_SIGNS,
  ...WEB_SIGNS,
  ...TOOL_SIGNS,
} as const satisfies Readonly<Record<string, string>>;

export type Sign = keyof typeof SIGN_PHRASES;

export const SIGNS = new Lexicon<Sign>(SIGN_PHRASES);
