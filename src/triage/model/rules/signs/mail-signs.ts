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
