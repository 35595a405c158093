/** What runs on a machine. */
export const ENDPOINT_SIGNS = {
  encoded_shell: `
    powershell .. enc | powershell .. encodedcommand | pwsh .. enc | pwsh .. encodedcommand |
    frombase64string`,
  hidden_shell: 'powershell .. hidden | w hidden | windowstyle hidden | conhost .. headless',
  download_and_run: `
    installutil | regasm | cmstp | odbcconf | msbuild .. xml | invoke webrequest .. iex |
    python c .. urllib | start bitstransfer | clickfix | fakeupdates | iex .. iwr | iex .. irm |
    iwr .. iex | irm .. iex | invoke restmethod .. iex | webclient .. iex |
    iwr .. invoke expression | irm .. invoke expression | invoke webrequest .. invoke expression |
    iex .. downloadstring | iex .. webclient | invoke expression .. webclient | downloadstring |
    downloadfile | curl .. bash | curl .. sh | wget .. sh | wget .. bash | certutil .. urlcache
    | bitsadmin .. transfer | mshta http | mshta https | mshta .. http | mshta .. https |
    mshta javascript | mshta vbscript | regsvr32 .. http | regsvr32 .. https | msiexec .. http |
    msiexec .. https | rundll32 javascript | rundll32 .. http | scrobj dll |
    wmic .. format .. http`,
  credential_dump: `
    rubeus | lazagne | impacket | crackmapexec | netexec | credentialaccess .. lsass |
    comsvcs dll .. minidump | comsvcs .. minidump | procdump .. lsass | lsass .. dump* |
    dump* .. lsass | minidump .. lsass | lsass .. minidump | lsass .. dmp | access to lsass | access lsass |
    accesses lsass | accessed lsass | lsass access | opens lsass | opened lsass | reads lsass |
    read lsass | reading lsass | memory of lsass | memory of .. lsass | inject* .. lsass |
    lsass inject* | sekurlsa | mimikatz | ntds dit | dcsync | reg save .. sam | credential dumping | secretsdump
    | lsass memory`,
  directory_copy: 'ntdsutil',
  credential_store: `
    formbook | login data | library keychains | keychain dump* | dump* .. keychain |
    cp .. keychain | copy .. keychain | read* .. keychain | keychain .. read* | document cookie |
    credential store | id rsa | cookies sqlite | dscl .. authonly | wallet dat | stealer |
    infostealer | credential theft | raccoon stealer | vidar stealer | redline stealer |
    lumma stealer | lummastealer`,
  backups_destroyed: `
    vssadmin delete | vssadmin .. delete shadows | shadowcopy delete | delete shadows |
    wbadmin delete | bcdedit .. recoveryenabled no | backup deletion | esxcli vm process kill |
    vim cmd .. power off | vms powered off | delete catalog`,
  ransomware_words: `
    blackcat | alphv | revil | encryptor | decrypt instructions | readme .. restore | how to recover | how to restore | restore my files | ransomware
    | ransom note | ransom | files encrypted | mass encryption | encrypted files |
    how to decrypt | lockbit | mass rename | files renamed | akira ransom* | conti ransom*`,
  ransom_note: `
    ransom note dropped | ransom note found | ransom note created | ransom note written |
    ransom notes | recover .. in every folder | restore .. in every folder`,
  encrypted_files: `
    files .. encrypted | files .. locked | locked files | encrypted .. files | extension locked |
    extension .. encrypted | shares .. encrypted | cannot open .. files | encrypted by | locked by`,
  ransom_demand: `
    note .. bitcoin | note .. btc | note .. monero | note .. ransom | asks for bitcoin |
    asking for bitcoin | demand* .. bitcoin | demand* .. ransom | demand* .. payment |
    ransom note | ransom demand | note .. pay | pay .. decrypt* | recover your files |
    restore your files | your files are | your files have | files have been encrypted`,
  miner: `
    kinsing | kdevtmpfsi | coin mining | crypto mining | cryptomining | mining malware | mining software |
    mining process | mines coins | mining .. coins | cryptocurrency mining | cryptocurrency miner |
    bitcoin miner | xmr miner | coinhive | cpuminer | stratum | xmrig | minerd | mining pool |
    mining protocol | cryptominer | coinminer | bitcointool | nicehash | monero`,
  rat: `
    anydesk .. unattended | ngrok | chisel | bash i | dev tcp | nc e | plink |
    remote access tool | brute ratel | dcrat | xworm |
    asyncrat | remcos | njrat | quasarrat | agenttesla | cobalt strike | cobaltstrike |
    meterpreter | command and control | reverse shell | backdoor | remote access trojan |
    dll side | side loading | sideloading | havoc c2 | sliver c2 | quasar rat`,
  loader_family: `
    wacatac | qbot | gootloader | latrodectus | pikabot | darkgate | socgholish | mirai | zloader |
    emotet | qakbot | icedid | guloader | bumblebee loader | trickbot | ursnif | gozi |
    smokeloader | dridex | hancitor`,
  beacon: 'beacon | beaconing | c2 | command and control | calls home',
  malware_family: `
    trojan | trojaned | trojandownloader | worm | worm like | virus | dropper | variant loader | malware loader | trojan loader | loader malware | downloader |
    rootkit | exploit attempt* | exploit detected | exploit blocked | exploit kit | exploit activity |
    exploit public | exploited | exploitation | webshell | web shell | hacktool | botnet | keylogger | spyware | wiper |
    malicious software`,
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
    service installed`,
  remote_service: `
    new service | remote execution | sc .. create | pass the hash | passthehash | overpass |
    admin share | service created remotely | psexec | psexesvc | wmiexec | smbexec |
    admin .. exe | wmiprvse | winrm .. invoke | lateral movement | process call create`,
  defence_off: `
    net stop .. defender | sc stop .. windefend | taskkill .. defender | advfirewall .. off |
    auditpol .. clear | setenforce 0 | history c | logging disabled | protection disabled |
    protection turned off | sensor stopped | agent uninstalled | disabled real time |
    disable .. real time | disablerealtimemonitoring | set mppreference | sensor heartbeat lost
    | tamper | tampering | stopped .. sensor | sensor service | antivirus service | amsi bypass
    | uninstall .. sensor | wevtutil cl | clear eventlog | driver load`,
  log_cleared: `
    audit log was cleared | audit log cleared | security log .. cleared | event log .. cleared |
    event logs .. cleared | log was cleared | logs were cleared`,
  discovery: `
    nltest | net group .. domain | whoami | ipconfig all | adfind | bloodhound |
    sharphound | net user domain | search password | mailbox search | getcalleridentity |
    listbuckets`,
  exfiltration_tool: `
    winscp | mega nz | pastebin | transfer sh | gofile | telegram bot | discord webhook |
    mass download | bulk download | personal cloud | personal .. drive | rclone | megasync |
    mega io | curl .. post | curl f | curl .. upload | exfiltration |
    instancecredentialexfiltration | anomalousbehavior`,
  script_host: `
    wscript | cscript | script engine | scriptlet | sct | postinstall | install script |
    osascript | run dialog | runmru`,
  tunnel: `
    high entropy | dns tunnel | dns tunneling | dns tunnelling | iodine | dnscat | dnscat2 |
    dns2tcp | dns exfiltration | exfiltration .. dns | data .. over dns | txt queries`,
  download_sample: `
    autoexec | document open | autoopen | auto open | macro .. enabled | builds a blob |
    html smuggling | downloaded file | archive member | remote template | obfuscation`,
  office_parent: `
    winword exe | excel exe | powerpnt exe | outlook exe | onenote exe | child of office |
    office .. child | office .. spawn*`,
} as const;
