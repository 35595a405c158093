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
