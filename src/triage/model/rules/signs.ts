import { Lexicon } from './phrases.js';

/*
 * Phrases of each sign, separated by `|`. In a phrase, `..` stands for up to eight other words, `*` for any ending, and
 * `/` separates alternatives. A sign counts only against an event. A text can lie in favour of an event, but an
 * attacker does not lie to look guilty.
 */

/** What mails and pages ask for. */
export const MAIL_SIGNS = {
  account_threat: `
    account .. verloopt/geblokkeerd/closed/disabled/expire* |
    account .. suspended/locked/restricted/limited/bloccato | postfach .. voll |
    passwort läuft .. ab | mot de passe .. expire | contraseña .. caduca |
    password .. scade/expire*/today | mailbox storage | quota | deactivat* |
    unusual activity/login | security alert | payment failed | billing problem | tax refund |
    suspension | verify .. identity | confirm .. password/account/identity |
    mailbox .. full/upgrade | verify/update .. account | re enrol*/validate/authenticate |
    renew .. 2fa | revalidate | session ends | unusual sign in | konto .. gesperrt/bestätigen |
    reauth* | enrol .. authenticator | storage .. full | account will be | keep your messages |
    messages .. held | held/pending/undelivered/quarantined messages | verify your mailbox |
    account .. on hold | release .. messages | access .. revoked | steuererstattung |
    votre compte .. suspendu | compte .. bloqué | remboursement .. impôts |
    cuenta .. bloqueada/suspendida | rekening .. geblokkeerd | confirm .. it was you`,
  sign_in_request: `
    melden sie sich .. an | meld je aan | bevestig uw/binnen | bestätigen sie ihr |
    confirmez votre | confirme su | conferma il tuo | sign in/on | log in/into | login .. account |
    work account | enter .. code/password | corporate sign | identifiez/connectez vous | konto/postfach .. anmelden |
    accedi | scan .. code/phone | inicie sesión | confirm/verify your password | login to |
    view document | access .. document | scan the qr | scan this | use your phone .. scan |
    qr code | verify .. mailbox | re login`,
  asks_secrets: `
    passwd | password | passwort | cardnumber | card number/details | cvv | otp |
    seed/recovery phrase | 24 words | wallet | social security | date of birth | pin code |
    loginfmt | mot de passe`,
  card_request: `
    bestätigen .. kreditkarte | kreditkarte .. bestätigen | kreditkartendaten | kartennummer |
    confirm/verify/update .. card | enter .. card number | card .. verify | card details .. fee |
    numéro de carte | carte bancaire .. confirm* | tarjeta .. confirm* | número de tarjeta |
    numero della carta | creditcardgegevens`,
  seed_phrase: 'seed/recovery phrase | 24/12/recovery words',
  payment_change: `
    neues konto | neue/nouvel/nuovo/new iban | bankgegevens | rekeningnummer .. gewijzigd |
    nieuwe rekening | nouveau rib/compte | changement de rib | nueva cuenta | cuenta bancaria |
    bankdaten | routing/account number | beneficiary | change .. payment/iban | changed banks |
    updated bank/banking/wire/remittance | banking/ach/bank/pay/remittance details | swift |
    new/different/salary/receiving account | new/another/different bank | bank/changed .. account |
    iban .. change* | direct deposit | wire/wiring/payment instructions | wire the/transfer |
    kontonummer | bankverbindung | nuovo conto | coordonnées bancaires |
    payment details .. changed | changed/update .. bank | new payment details | remit to |
    bank/banking information | account details .. change* | change .. account details |
    to the new one | account .. under review`,
  money_request: `
    transfer | transfers | invoice | invoices | payment | overdue | remittance | advance of |
    payroll | salary | faktura | rechnung | fattura | facture | wire | deposit | instalment |
    installment`,
  gift_cards: `
    buy/purchase .. cards | guthabenkarte* | geschenkkarte* | gutscheinkarte* | gutscheincodes |
    carte* cadeau* | tarjeta* .. regalo | cadeaukaart* | cadeaubon* | buoni/carte regalo |
    gift card | gift/itunes/steam/apple/amazon cards | giftcards | voucher codes |
    scratch off the code | scratch the card | scratch .. send`,
  secrecy: `
    vertraulich | confidentiel | confidencial | vertrouwelijk | riservato |
    sprechen sie mit niemandem | n en parlez | nicht anrufen | niet bellen | ne pas appeler | no llame* | non chiam* | confidential | between us |
    do not discuss/call/involve/share/tell | discretion | tell no one | nobody else | in a meeting |
    cannot talk | this channel | tell nobody | no calls | cannot .. call | discreet |
    non disclosure | nda | keep this quiet | quiet until | not mention | without informing |
    between you and me | private/sensitive matter | cannot take calls | reply only |
    only by mail/email | only you and`,
  sensitive_list: `
    payroll/salary/customer/employee/vendor/staff list | list of employees |
    tax form/forms/certificates | w 2s/2 | w2 | payslips | aging/ageing report | tax .. staff |
    personnel files | passport copies | copies of passports | list of .. customers |
    salary .. spreadsheet | employee data`,
  call_back: `
    cancel/refund .. call | to cancel | call/ring .. within | toll free | call support/our/us |
    contact .. billing/support/desk | call .. immediately | call the number | dial | helpline |
    hotline | customer care | our agents | billing desk | speak .. agent | support number |
    phone support | ring us | did not authorise/authorize`,
  charged: `
    charged | renews | renewal | subscription | auto renew | purchase .. confirmed |
    your purchase/order | order .. confirm* | debited | invoice paid | purchase of |
    protection plan | membership | payment of .. received | deducted | taken from your account |
    was taken from | for renewing`,
  extortion: `
    recorded you | full control of your | your webcam | send/in bitcoin | pay .. bitcoin |
    bitcoin wallet/address/to | btc wallet | worth of bitcoin | compromising video/material/photos |
    hacked your | i have access to your`,
  parcel_fee: `
    delivery failed | failed delivery | parcel | customs charge/fee/duty | redelivery |
    address incomplete | reschedule .. delivery | unpaid toll | shipping fee | delivery .. fee |
    package .. fee/held/waiting | package could not | package .. on hold | your package .. address |
    paket .. zollgebühr | paket .. nicht zugestellt | ihr paket .. wartet | colis .. frais |
    colis .. en attente | paquete .. aduana`,
  voicemail: `
    voice/fax/secure/encrypted message | voicemail | scanned image | document .. shared |
    please/e sign | review and sign | geschütztes dokument | protected/completed/secure document |
    missed call | new fax | esign | e signature | signature request/requested |
    shared a file/document/folder | has/file shared | payment/remittance advice |
    salary adjustment | document for review | shared with | waiting for your signature |
    ready to sign | sent you | für sie freigegeben | hat .. freigegeben/geteilt | a partagé |
    ha compartido/condiviso | heeft .. gedeeld`,
  archive_password: 'archive/zip password | password .. archive | passwort .. archiv',
  device_code: 'devicecode | device code | login .. device | device .. enter the code',
  unsolicited: `
    prize | you won | winner | reward | rewards | voucher | lottery | inheritance | claim your |
    limited offer | million dollars/usd`,
  impersonation: `
    impersonation | impersonates/impersonating/impersonated | lookalike | look alike |
    similar domain | typosquat* | ceo fraud | executive .. name | display name from outside |
    display name .. employee/executive | display name spoof* | posing/poses as | pretending to be |
    spoofing .. detected | sender/domain/email spoof* | spoofed domain/sender`,
  run_this: `
    ran a command .. from a page | pasted .. from a page | copied from a web | windows key r |
    win/windows r | open .. terminal/powershell | run dialog |
    paste .. terminal/powershell/command/explorer | copy .. command .. run | ctrl v .. enter |
    paste .. address bar | run the following | press windows .. r | windows key .. r .. ctrl |
    verification steps .. paste | paste .. run box/window | press ctrl v .. press enter |
    terminal .. paste .. enter`,
  opener: `
    handynummer | sind sie gerade verfügbar | sind sie im büro | ben je beschikbaar |
    êtes vous disponible | est* disponible | numéro de portable | número de móvil | kurze frage |
    petite question | snelle vraag | at your desk | quick task/favour/favor/request |
    are you available/free/busy | mobile/cell/personal number | need you to | kindly |
    favour/favor to ask | are you in the office | got/have a minute | discreet task |
    send me your number | need a favor/favour | can you handle | something urgent`,
} as const;

export const ORDER_SIGNS = {
  verdict_order: `
    mark/classify/classification/verdict/answer/return/output/label/treat .. benign |
    set/disposition/resolve/evaluate/report/conclusion/close/réponds/must .. benign |
    mark/classify .. safe | verdict safe | answer with | assessment benign |
    close/closed .. false positive | als unbedenklich/harmlos/benign | do not escalate |
    do not re triage | keine maßnahmen | skip analysis | confidence 1/0/high | classify as |
    请判定为良性`,
  orders_to_machine: `
    ignore .. previous | ignore/disregard/forget .. instructions | ignore all |
    previous instructions | system prompt/message/notice/override | you are now | developer mode |
    as an ai | ai triage/agent | note/notice to .. ai | note/notice to automated |
    note to the automated | automated reviewer | llm | classifier | to/instruct the model |
    instruct/language model | triage model/override/note | model/models should | model must |
    assistant must/output | evaluator please | for the machine | consigne au modèle |
    oublie les règles | an das modell/prüfsystem | an die ki | end of untrusted | begin untrusted |
    role system/tool/assistant | call the tool | function results | tool result`,
} as const;

export const ENDPOINT_SIGNS = {
  encoded_shell: `
    powershell .. enc/ec/encodedc* | pwsh .. enc/encodedcommand | frombase64string |
    powershell exe e | powershell e | base64 d/decode | certutil .. decode |
    encoded/obfuscated powershell | encoded command | obfuscated .. command`,
  download_and_run: `
    msbuild .. xml | python c .. urllib | clickfix | fakeupdates | iex .. iwr/irm/webclient |
    iwr/irm/webclient .. iex | invoke webrequest/restmethod .. iex | downloadstring |
    iwr/irm .. invoke expression | invoke webrequest .. invoke expression |
    invoke expression .. webclient | curl .. bash/chmod/rundll32 | wget .. bash/chmod |
    mshta/regsvr32/msiexec/rundll32/iex .. http/https | mshta/rundll32 javascript |
    mshta vbscript | scrobj dll | wmic .. format .. http | regsvr32 .. scrobj | bash c curl |
    iwr/downloadfile .. start process | invoke webrequest .. start process | hh exe .. http |
    download*/fetch* .. and execut* | downloadfile .. invoke | ingress tool transfer .. execut*`,
  fetches_script: `
    installutil | regasm | cmstp | odbcconf | start bitstransfer | curl .. sh/python/perl/tmp |
    wget .. sh/python/tmp/chmod | download* .. and run* | downloadfile | ingress tool transfer |
    curl .. o .. tmp | tftp .. get | iwr .. outfile | invoke webrequest .. outfile |
    certutil .. urlcache/http/https | bitsadmin .. transfer | desktopimgdownldr`,
  credential_dump: `
    mimikatz | sekurlsa | kekeo | rubeus | lazagne | impacket | netexec | crackmapexec |
    secretsdump | nanodump | pypykatz | lsassy | handlekatz | dumpert | sharpdpapi | hashdump |
    dcsync | silentprocessexit |
    credentialaccess/procdump/createdump/minidump/dump*/inject* .. lsass | lsass .. dump*/dmp |
    comsvcs/lsass/rundll32 .. minidump | access*/open*/read* lsass | access to lsass |
    lsass access/inject*/memory | lsass process memory | memory of .. lsass | ntds dit/extraction |
    ntds .. copied | copied/vss .. ntds | ntdsutil .. ifm/full | reg save .. sam | sam hive |
    save hklm sam/security | lsa secrets | vbrcredentials | ticket dump | credential dumping/theft |
    dump* .. credentials | credentials .. dumped`,
  sensitive_file: `
    read sensitive file untrusted | search private keys | cat/cp etc shadow | etc shadow .. read |
    read .. etc shadow | unshadow | aws credentials .. read | cat/find .. id rsa |
    169 254 169 254 .. iam | env base64 | printenv .. base64 | latest meta data iam |
    grep .. password`,
  credential_store: `
    stealer | infostealer | lummastealer | lumma | metastealer | stealc | vidar |
    redline .. steal* | formbook | login data | web data .. copied | cookies sqlite |
    document cookie | credential store/theft | wallet dat | dump*/cp/copy/read* .. keychain |
    keychain .. dump*/read* | library keychains | dscl .. authonly | passwords .. browser |
    browser .. passwords | saved/stored passwords | browser/aws credentials |
    cookies .. copied/stolen/read | session tokens .. browser | keepass .. export | kdbx .. copied |
    seed .. wallet | environment variables .. sent/post* | posts .. environment |
    npmrc/rsa .. read | tojson secrets | read .. npmrc | read/copied/cat .. id rsa | dpapi .. master key |
    credential manager .. dumped | vaultcmd list`,
  backups_destroyed: `
    vssadmin/wbadmin delete | delete shadows/systemstatebackup | vim cmd .. power off |
    resize shadowstorage | bcdedit .. ignoreallfailures/recoveryenabled | wmic shadowcopy |
    shadowcopy/diskshadow .. delete | shadow copies .. deleted/removed | wbadmin .. delete catalog |
    vssadmin .. resize | all backups .. deleted | deleted all backups | deletes all snapshots |
    veeam .. backups .. deleted | esxcli .. vm .. kill | delete .. restore points |
    restore points .. deleted`,
  backups_removed: `
    backup deletion | delet* backup*/snapshot* | vms powered off | snapshots deleted | delete .. snapshots |
    backups/backup .. deleted | deleted .. backups | recovery/immutability/retention .. disabled |
    virtual machines stopped | backup/delete catalog`,
  ransomware_words: `
    ransomware | ransomhub | ransom note/demand/payment/hub/win32/win64/linux/msil/w32/python |
    akira/conti/clop/medusa/play/royal/inc/lynx ransom* |
    cactus/hive/snatch/darkside/cuba/fog/interlock ransom* | lockbit | blackcat | alphv | revil |
    black basta | blackbasta | blackbyte | blacksuit | bianlian | cl0p | rhysida | ryuk | babuk |
    qilin | phobos | medusalocker | hunters international | 8base | dragonforce | safepay |
    vice society | avoslocker | trigona | noescape | esxiargs | wannacry | notpetya | mallox |
    stop djvu | makop | akira .. encrypt* | mass/file/suspicious encryption | encrypt* for impact |
    files encrypted | encrypted/encrypting/encrypts files | files were encrypted |
    file/files encryptor | how to decrypt | decrypt instructions | how to recover/restore .. files |
    readme .. restore | restore my files | bitlocker .. ransom`,
  ransom_note: `
    ransom note dropped/found/created/written | ransom notes/message |
    recover/restore .. in every folder | your network/files/data is/are locked/encrypted | decrypt instructions | recovery instructions .. txt`,
  encrypted_files: `
    files/extension/shares .. encrypted | files .. locked | locked files/by | encrypted .. files |
    extension locked | cannot open .. files | encrypted by`,
  ransom_demand: `
    note .. bitcoin/btc/monero/ransom/pay | asks/asking for bitcoin |
    demand* .. bitcoin/ransom/payment | ransom note/demand | pay .. decrypt* |
    recover/restore your files | your files are/have | files have been encrypted`,
  miner: `
    xmrig* | cryptominer | coinminer | cpuminer | minerd | ethminer | nbminer | phoenixminer |
    lolminer | kinsing | kdevtmpfsi | kworkerds | coinhive | nicehash | nanopool | supportxmr |
    minexmr | moneroocean | monero | bitcointool | randomx | cryptonight | hashrate |
    cryptojacking | cryptomining | coin/crypto/cryptocurrency mining |
    cryptocurrency/bitcoin/xmr/coin miner | mining malware/software/process/pool/protocol |
    mines coins | mining .. coins | cryptocurrency .. pool | stratum tcp/ssl`,
  rat: `
    asyncrat | remcos | njrat | quasarrat | quasar rat | dcrat | xworm | venomrat | agenttesla |
    darkcomet | nanocore | netwire | strrat | gh0st | plugx | shadowpad |
    warzone/orcus/netsupport/sparkrat rat | brute ratel | bruteratel | cobalt strike |
    cobaltstrike | meterpreter | metasploit | msfvenom | sliver | havoc/nighthawk c2 |
    mythic/merlin/empire agent | poshc2 | ligolo | chisel client/server | fscan | frpc | backdoor |
    malicious implant | remote access trojan | reverse/bind shell | dev/ngrok tcp | ngrok .. 3389 |
    nc e | plink .. r | pty spawn | socket .. subprocess | netcat remote code |
    redirect stdout stdin | nps/gost/reverse tunnel |
    c2 server/channel/domain/callback/communication/beacon | command control server |
    command and control server/traffic | known command and control | known command control |
    c c activity/server | cnc activity/server/traffic | cnc/malware/rat/trojan checkin | et cnc |
    dll sideloading | dll side loading | side loaded dll | anydesk .. unattended |
    netsupport .. appdata`,
  remote_support: `
    remote access/administration/support tool | remote monitoring and management |
    remote access software | rmm tool/software`,
  loader_family: `
    emotet | qakbot | qbot | icedid | trickbot | dridex | ursnif | gozi | zloader | bumblebee |
    pikabot | darkgate | gootloader | guloader | smokeloader | latrodectus | socgholish | hancitor |
    amadey | danabot | systembc | bazarloader | matanbuchus | hijackloader |
    hijack/idat/koi loader | stealc | rhadamanthys | lokibot | agent tesla | snake keylogger |
    raspberry robin | xloader | modiloader | dbatloader | privateloader | wikiloader | batloader |
    fakebat | clearfake | mintsloader | castleloader | phemedrone | mirai | wacatac | nemucod |
    oyster backdoor`,
  beacon: 'beacon | beaconing | calls home | periodic connection* | regular/fixed interval*',
  malware_family: `
    trojan | trojaned | trojandownloader | worm like/win32/w32/detected/found/infection |
    variant loader | malware loader/downloader/dropper | loader/et/downloader/dropper malware |
    exploit kit | webshell | web shell | hacktool |
    botnet | keylogger | spyware | wiper | malicious software/driver/document/macro/package |
    shellcode | process injection/hollowing | trojanized | trojanised | dependency confusion |
    injected .. process | code injected | remote thread | fileless execution | memfd create |
    container escape | nsenter | coinminer | exploit_kit | escape to host |
    virus detected/found/alert/infection/win32/w32/dos/linux | infected/called/told .. virus |
    virus .. quarantined/cleaned/blocked | network/email/a worm | worm .. spread*/usb |
    downloader win32 | was/actively/being exploited | successful exploitation |
    reflective loading/dll | dropper detected |
    trojandropper | rootkit detected/found/activity/installed | kernel/symbiote rootkit |
    hidden by rootkit | mirai | gafgyt | xorddos | bpfdoor | perfctl | 8220 gang | teamtnt |
    your computer .. virus | shai hulud | s1ngularity`,
  unwanted: `
    adware | pua | pup | potentially unwanted | riskware | keygen | browser hijacker | crack exe |
    cracked/unwanted software | software bundler | bundler .. unwanted | hktl crack |
    browser extension .. malicious`,
  attacker_seen: `
    malicious activity | known/suspected/active adversary | hands on keyboard/activity |
    stolen session | cookie was stolen | malicious file was found | ddos attack |
    denial of service attack | executing binary not part of base image |
    drop and execute new binary | interactive attacker | ransomware operator |
    threat actor .. activity | multi stage attack | human operated | attack disruption |
    lateral movement .. detected`,
  persistence: `
    reg add .. run | schtasks | hkcu/hklm .. run | launchdaemons | wmi subscription |
    event consumer | task created | run key | currentversion run | startup folder | launchagents |
    systemd service .. created | authorized keys | sc create | service installed | runonce |
    image file execution | winlogon shell | com hijack* | login item | launch agent/daemon |
    rc local | ld so preload | ld preload | shell startup | new scheduled task |
    write below binary/etc | modify binary dirs | new local user | net user .. add | crontab e/r |
    etc crontab .. modif* | cron job .. added | new cron job | cron .. curl/wget |
    etc cron .. created | autorun key/inf/worm | autoruns .. new | userinit .. modified |
    systemctl enable .. tmp | new service created | backdoor/hidden user |
    net localgroup administrators .. add | useradd .. 0 | nopasswd | etc sudoers .. modif*/write |
    wmi .. filter to consumer | screensaver .. persistence | bits job .. notify | netsh helper |
    appinit dlls | print monitor .. dll | active setup | autorun .. removable | usb autorun`,
  remote_service: `
    new service | remote execution | sc .. create | comspec q c echo | pass the hash | passthehash | overpass |
    admin share | service created remotely | psexec | psexesvc | wmiexec | smbexec | admin .. exe |
    wmiprvse | winrm .. invoke | lateral movement | process call create | rdp to many |
    rdp .. many hosts | smb/ssh to many hosts | atexec | dcomexec`,
  defence_off: `
    sc stop .. windefend | taskkill/disable/stop/tampering .. defender | set mppreference |
    disablerealtimemonitoring | disable/disabled real time | disable .. real time |
    advfirewall .. off | auditpol .. clear | setenforce 0 | history/exclusionpath c | wevtutil cl |
    clear eventlog | fltmc unload | sysmon .. unload* | amsi bypass | amsi/etw .. patched |
    patches etw | unhook* .. ntdll | bcdedit .. safeboot |
    defender/antivirus/edr/firewall .. disabled | edr/auditd .. stopped | agent .. killed |
    kills/terminat*/tampering .. edr | stopped/uninstall/tampering .. sensor |
    edr/sensor/agent tampering | security tool tampering | defense evasion .. tampering | tampered |
    edr kill* | edrsilencer | killav | byovd | protection turned off | protection disabled by |
    disables/disabled .. protection | tamper/time protection .. off/disabled |
    security tools/log .. stopped | stop/stopped .. security tools |
    exclusionpath .. users/temp/programdata | exclusionextension | exclusionprocess |
    unifiedauditlogingestionenabled false`,
  protection_gap: `
    uselogoncredential .. 1/0x00000001 | sensor stopped/lost/uninstalled | sensor heartbeat lost | process of the sensor ended |
    service of the sensor | agent uninstalled | exclusion added | add mppreference |
    antivirus/sensor service .. stopped | protection/logging disabled | antivirus .. stopped |
    driver load .. unsigned | stopped .. security service | tampering | exclusion .. c users |
    exclusion .. temp`,
  log_cleared: `
    audit log cleared | security log .. cleared | event log/logs .. cleared | log was cleared |
    logs were cleared | cleared/deleted .. history | history .. cleared/deleted`,
  discovery: `
    nltest | whoami | quser | net view/localgroup | net user/accounts domain | net group .. domain |
    dsquery | adfind | get aduser | bloodhound | sharphound | azurehound | roadrecon | powerview |
    adrecon | pingcastle | ldapdomaindump | enum4linux | kerbrute | winpeas | linpeas | cloudfox |
    pacu | scoutsuite | softperfect | advanced ip scanner | search password | mailbox search |
    compliancesearch | new compliancesearch* | enumerat* .. domain | rolesanywhere .. enumerat* |
    internal .. port scan | scanned ports .. internal | install/add nmap/masscan/netcat/socat | scans internal | scans .. internal network | internal network scan |
    network sweep | internal reconnaissance | host scans`,
  exfiltration_tool: `
    sent to private | upload* .. personal | exported/exports all | exported/copied/csv .. usb |
    to usb/personal/removable | mega nz/io | transfer/temp sh | gofile | telegram bot |
    discord webhook | mass/bulk download |
    personal cloud/dropbox/google/onedrive/gmail/storage/webdav | personal .. drive | rclone |
    megasync | curl/mega .. upload | instancecredentialexfiltration | anonfiles |
    private mailbox/gmail | freefilesync | megacmd | tar .. curl | staged/post .. archive |
    archive .. upload* | data exfiltration | exfiltration over/to/attempt/detected/of |
    exfiltrated | s3 browser | azcopy | restic .. backup .. rest | goodsync | dropbox uploader |
    bashupload | oshi at | curl t | curl .. data binary | usb/removable .. copied`,
  staged_archive: `
    7z/7za a .. p | rar a .. hp | rar/winrar .. hp | 7z .. mhe | compress archive .. temp |
    makecab .. temp | tar czf .. tmp | zip .. password .. temp`,
  transfer_tool: `
    pastebin | wetransfer | filezilla | winscp | pscp | curl f | curl .. post | private mail/cloud |
    personal account`,
  script_host: `
    wscript | cscript | script engine | scriptlet | sct | postinstall | install script | osascript |
    run dialog | runmru | mshta | hta file | jscript | vbscript | preinstall`,
  tunnel: `
    high entropy | dns tunnel/tunneling/tunnelling/exfiltration | iodine | dnscat | dnscat2 |
    dns2tcp | exfiltration .. dns | data .. over dns | txt queries`,
  office_parent: `
    winword/excel/powerpnt/outlook/onenote exe | child of office | office .. child/spawn*`,
} as const;

export const WEB_SIGNS = {
  web_attack: `
    sql/command/code/template/ognl injection | sqli | path/directory traversal |
    remote code execution | file inclusion | cross site scripting | xss | log4shell | jndi |
    server side request forgery | ssrf | xxe | insecure/unsafe deserialization |
    deserialization exploit/attack | shellshock | rce attempt/exploit/detected | spring4shell |
    proxyshell | proxylogon | struts/moveit .. exploit | webshell upload | citrixbleed |
    cve 2021 44228 | lfi attempt | web shell | exploit attempt*/detected/blocked/activity/public |
    exploitation of/attempt/detected/activity`,
} as const;

export const ACCOUNT_SIGNS = {
  travel: `
    geographically improbable | geo impossible/velocity | travel anomaly |
    impossible/unlikely/atypical/improbable travel | unlikelytravel | impossibletravel |
    atypicaltravel | two/different countries within | two countries in | two places within |
    from two countries`,
  new_place: `
    new/unrecognised/unrecognized/unfamiliar/unknown device | anomalous sign/login/token |
    unusual/new/unfamiliar/atypical/unknown location | unusual/new/first country |
    new geo/asn/browser | unfamiliar features | unfamiliarfeatures | unfamiliar sign in |
    context .. change | first time .. country | unusual asn | not seen before | never seen/used |
    never logged on | new ip address`,
  hidden_network: `
    malicious/anonymized/anonymous/datacenter/datacentre ip | maliciousipaddress | anonymizer |
    anonymiser | vpn exit | residential/anonymous/unknown/open proxy | botnet .. ip |
    tor exit/node/network/browser/relay | anonymised address | anonymizedipaddress | bulletproof |
    consumer/anonymous/commercial vpn | m247 | nordvpn | mullvad | torclient | riskyipaddress |
    maliciousipcaller | hosting/vps provider | hosting/proxy network | hosted vps |
    data center/centre ip | cloud provider ip | anonymizing | anonymising | toripcaller |
    tor ip caller | protonvpn | surfshark | expressvpn | residential proxies`,
  token_reuse: `
    cookie/cookies/session/sessions/token/tokens .. reused | reused session |
    session cookies .. from | adversary/attacker in the middle | aitm | attackerinthemiddle |
    evilginx | evilproxy | tycoon | pass the cookie | stolen cookie/token | stolen session cookie |
    token/cookie/session replay | token theft/reuse | session hijack* |
    session token/cookie .. stolen | session cookie .. replay* | replayed | anomalous token |
    anomaloustoken | tokenissueranomaly | same session .. different | same session .. new country |
    session continued from | refresh token .. used/theft | primaryrefreshtoken |
    suspicious .. primary refresh token | access primary refresh token`,
  legacy_protocol: `
    imap | pop3 | bav2ropc | smtp auth | legacy auth* | basic authentication | ropc |
    mapi .. legacy`,
  guessing: `
    passwordspray | many/multiple failed | failed logons/logins/authentications |
    failed login attempts | dictionary attack | spray | few passwords | brute force | bruteforce |
    credential stuffing | failed .. logons by source | failed vpn logons |
    password guessing/attack | invalid users | failed sign ins | authentication/login failures`,
  guessed: `
    fail* followed by .. success* | fail* .. followed by .. success* |
    fail* .. then .. succeeded/worked | fail* .. then a success* | success* .. many/multiple fail* |
    brute force .. succeeded | guessing .. succeeded`,
  stuffing: 'credential stuffing | reuse list | account checker',
  push_denied: `
    denied | rejected | not recognised | fraud reported | reported .. fraud | mfa fatigue |
    push bombing`,
  push_flood: `
    mfa fatigue/bombing/spam* | push fatigue/bombing/spam*/flood* | prompt bombing |
    repeated push/mfa | push notifications .. denied | mfa prompts .. denied | many push`,
  push_gave_in: `
    push*/prompts/mfa/requests .. denied .. approved | denied .. push*/prompts/times .. approved |
    push*/prompts/mfa .. denied .. accepted |
    push/prompts/mfa .. rejected .. approved/accepted | declined .. push .. accepted`,
  fraud_report: `
    asked deny* | denied it | did not do it | without .. knowledge | knows nothing |
    no knowledge of | did not request/order/approve/initiate/authorise/authorize/call |
    did not sign in/up | did not log in | did not do .. this | did not make .. call |
    did not send/write .. mail | user did not sign | user never signed | user/she/he/owner denies |
    denies having | denies .. sign in | denies .. login | never requested/called/signed |
    has not called | unknown to user | user says .. not | user has no knowledge |
    not recognise/recognize | was not me | not me .. secure | reported suspicious activity |
    report suspicious activity | fraud reported | reported as fraud | mfa fraud | pressed yes |
    tapped approve | approved .. by mistake/annoy* | userreportedsuspiciousactivity`,
  factor_changed: `
    2sv disable | deactivatemfadevice | deletevirtualmfadevice | recovery email/phone edit | factor activate/reset | mfa factor/disabled/reset/removed | new authenticator/passkey |
    register device | device registered | reset mfa | number changed | authenticator enrolled |
    default authentication method | security info .. registered | temporary password |
    mfa method .. added | authenticator .. added/replaced | added .. authenticator |
    new mfa device | factor .. removed | phone number .. changed | new phone .. registered |
    disable strong authentication | mfa attempt bypass | recovery address |
    registered security info | reset all factors/authenticators`,
  inbox_rule: `
    rss subscriptions/feeds | forwarding rule | rule .. deletes/moves/rss | hides mail |
    suspiciousinboxforwarding | mcassuspiciousinboxmanipulationrules | inbox manipulation |
    moved to rss | inbox rule .. delete*/hide*/invoice/payment/forward* |
    mailbox rule .. delete*/forward*/hide* | suspicious/malicious inbox rule |
    moves mail .. archive`,
  inbox_rule_made: 'inbox/mailbox rule | inboxrule | updateinboxrules',
  forwarding: `
    forwardingsmtpaddress | email forwarding change/out | forwarding/forwards/forward/autoforward* .. external |
    redirect to .. external | external/smtp forwarding | forwardto | redirectto |
    forwardasattachmentto | forwarding .. gmail | forwarded .. outside | set mailbox .. forwarding |
    forwardingaddress | auto forward* .. external | auto forwarding .. enabled | blindcopyto |
    redirectmessageto`,
  consent: `
    consent to application | consent grant | illicit/user/granted consent | oauth app |
    publisher unverified | mail readwrite/send/read | offline access | files readwrite |
    files read all | application permission* | full access as app`,
  privilege: `
    global/super/company/exchange/security/application administrator | domain/cluster admin |
    system admin .. super admin | add/added/new system admin | new administrator | privilege grant | add member to role | privileged role | create application credential |
    administratoraccess | role assigned | attachuserpolicy | attachrolepolicy | putuserpolicy |
    createpolicyversion | owner .. subscription | made .. administrator | putrolepolicy |
    putgrouppolicy | clusterrolebinding .. admin | poweruseraccess | iamfullaccess |
    grant/made .. super | role owner .. granted | elevate access | user access administrator |
    elevateaccess`,
  policy_weakened: `
    conditional access policy .. deleted/disabled | mfa policy/enforcement .. disabled |
    mfa .. disabled for | security defaults .. disabled | password policy .. weakened`,
  group_joined: `
    added .. domain/enterprise/schema admins | added .. administrators |
    new domain/enterprise admin | joined .. domain admins`,
  cloud_log_off: `
    stoplogging | deletetrail | deleteflowlogs | deletedetector | audit logging disabled |
    diagnosticsettings delete | deletesink | stopconfigurationrecorder |
    deleteconfigurationrecorder | guardduty/cloudtraillogging disabled |
    disable/deletemembers .. guardduty | trail/cloudtrail .. stopped | trail/sink deleted |
    logging .. turned off | audit log/policy .. disabled | deleteeventselectors |
    puteventselectors .. none | updatetrail/updatedetector .. disabled | cloudtrailloggingdisabled |
    disable diagnostic log* | disableorganizationadminaccount | disassociatefrommasteraccount |
    archivefindings | logging was disabled`,
  ticket_attack: `
    golden/silver/diamond/sapphire ticket | kerberoast* | dcsync | ticket anomaly/forgery |
    as rep roast* | asrep roast* | krbtgt hash | unconstrained delegation .. abuse |
    delegation abuse | s4u2self .. abuse | overpass the hash`,
  directory_attack: `
    dcsync | dcshadow | certipy | esc1 | esc8 | shadow credentials | pywhisker | petitpotam |
    coercer | printerbug | zerologon | nopac | printnightmare | skeleton key |
    golden certificate/saml | adminsdholder .. modif* | sid history .. injection |
    sidhistory .. added | ntlm relay | ntlmrelayx | directory replication .. non domain controller |
    replication .. not a domain controller | responder .. llmnr | llmnr poisoning | krbrelayup`,
  leaked_secret: `
    public gist | found in public | leakedcredentials |
    leaked credentials/key/token/password/credential | breach .. credentials |
    credentials .. dark web | infostealer/stealer log | instancecredentialexfiltration |
    publicly leaked | secret scanning | truffle* | secret/leaked/exposed/compromised access key |
    npm token | exposed credential/key/token | key .. public repository |
    credentials/token .. public | private/access key .. exposed | key .. leaked/committed |
    password .. breach | access key .. public`,
  service_desk_pretext: `
    lost phone | caller claim*/says | could not name | reset anyway/without | employee number only |
    caller/identity .. not verified | date of birth and .. reset | posing as help desk |
    posing as it support | posing as helpdesk | pretends to be help desk |
    pretending/impersonat* .. help desk | impersonat* .. it support | fake help desk |
    fake it support`,
  support_session: 'quick assist | quickassist',
  exposed: `
    public read/bucket | publicly accessible/readable/writable/shared | made public |
    anyone with the link | bucket .. public | open/exposed to the internet |
    public access .. enabled | principal allusers | allauthenticatedusers | allusers .. read/write |
    anonymous access .. enabled/allowed | blockpublicaccess .. disabled |
    bucketblockpublicaccessdisabled | bucketanonymousaccessgranted | bucketpublicaccessgranted |
    deletepublicaccessblock | deleteaccountpublicaccessblock`,
  cloud_misuse: `
    unused region | gpu/many instances | instances launched | snapshot .. shared/public |
    getsecretvalue .. times | region .. never used | createvolumepermission .. all |
    crypto mining instances | large gpu | p4d | p5 48xlarge | snapshot copied .. account |
    shared .. external account | api token .. scope all | token .. created .. scope all |
    schedulekeydeletion | retention 365 1 day | sso enforcement off | sso .. disabled`,
} as const;

/** Words of tools about their findings. What such a word means depends on the key of its value: see `tool-rules.ts`. */
export const TOOL_SIGNS = {
  grave_word: `
    malicious | attack | attacker | compromis* | exploit* | exfil* | injection | backdoor | theft |
    stolen | steals | stealing | hijack* | credential access/dump*/harvest* | lateral movement |
    privilege escalation | command and control | c2 | malware | ransom* | phish* | evasion |
    tamper* | forged | bypass* | takeover | intrusion | weaponi* | rootkit | webshell | hacktool |
    hack | hacked | breach* | persistence | shellcode | masquerad* | spoof* | impersonat* |
    brute force | password spray* | kerberoast* | deserialization | poison* | cryptomin* | trojan |
    infostealer | keylog* | botnet | ddos | sabotage | fraud* | abuse | abused | leaked |
    reverse shell | obfuscat* | encoded command | mass delet*/download* | wiped | wiper |
    cleartext password | data loss | dropper`,
  odd_word: `
    suspicious | suspected | unusual | anomal* | abnormal | unexpected | unauthori* | unapproved |
    unfamiliar | unrecogni* | unverified | rare | first time | never seen/before |
    new country/device/location/geo* | impossible | atypical | risky | outlier | probe | probing |
    recon* | enumerat* | discovery | sweep | violation | blacklist* | denylist* | blocklist* |
    mismatch | disabled | turned off | killed | cleared | failed | failure | failures | rejected |
    threat | threats | excessive | spike | surge | burst | mass | repeated | multiple | anonymous |
    everyone | public | external | sensitive | elevated | escalated | vulnerab* | unsigned |
    hidden | encoded | covert | offline | unreachable | silent | lost | dormant | tor |
    outside .. hours | off/after hours`,
  ordinary_work: `
    completed w/with warnings | finished | renew* | rotat* | expir* | heartbeat | health | keepalive |
    synchroni* | sync | updat* | upgrad* | patch* | definitions | backup* | snapshot created |
    restore test* | no/0 threats | passed | compliant | disk | cpu | memory | oom | crash loop* |
    oomkilled | back/log off | latency | queue | uptime | started | restart* | reboot* | boot* |
    shutdown | power | battery | temperature | toner | print* | link up/down | interface |
    failover | lease | dhcp* | dns quer* | ntp | meeting | calendar | viewed | previewed | opened |
    edited | synced | pulled | scal* | autoscal* | deploy* | rollout | pipeline |
    workflow run | build | pull request | git push/fetch | merged | logrotate | closed | ended |
    logoff | logout | log/signed out | disconnected | delivered | digest | newsletter* |
    automatic reply | generated | test alert | watchdog | resolved | recovered | checksum changed |
    dpkg | package .. installed/removed | filesystem | file system | out of space | self service |
    error rate`,
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
