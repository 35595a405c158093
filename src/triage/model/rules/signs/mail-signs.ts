/** What mails and pages ask for. */
export const MAIL_SIGNS = {
  urgency: `
    asap | right away | before noon | end of day | as soon as possible | today only | 24 hours |
    48 hours | urgent | immediately | within .. hours | within .. min | within .. h | expires |
    expires today | action needed | action required | last chance | final notice | dringend |
    sofort | umgehend | urgente | läuft .. ab | expire`,
  account_threat: `
    mailbox storage | quota | deactivat* | unusual activity | security alert | payment failed |
    billing problem | tax refund | suspension | account .. closed | account .. disabled |
    reset .. password | verify .. identity | confirm .. password | password .. expire* |
    account .. expire* | account .. suspended | account .. locked | mailbox .. full |
    verify .. account | confirm .. account | confirm .. identity | re enrol* | renew .. 2fa |
    revalidate | re validate | session ends | unusual sign in | konto .. gesperrt | reauth* |
    update .. account | enrol .. authenticator`,
  sign_in_request: `
    sign in | log in | login .. account | work account | enter .. code | enter .. password |
    corporate sign | identifiez vous | anmelden | connectez vous | accedi | scan .. code |
    scan .. phone | inicie sesión`,
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
    different account`,
  money_request: `
    transfer | transfers | invoice | invoices | payment | overdue | remittance | advance of |
    payroll | salary | faktura | rechnung | fattura | facture | wire | deposit`,
  gift_cards: 'gift card | gift cards | giftcards | scratch | voucher codes | itunes cards',
  secrecy: `
    confidential | keep this confidential | between us | do not discuss | discretion |
    tell no one | nobody else | in a meeting | cannot talk | this channel |
    strictly confidential | tell nobody | keep .. between us | do not call | no calls |
    cannot .. call | discreet`,
  sensitive_list: `
    payroll list | salary list | customer list | list of employees | tax form | w 2s | tax forms
    | w 2 | w2 | payslips | aging report | ageing report | employee list | tax .. staff`,
  call_back: `
    cancel .. call | to cancel | call .. within | call us .. cancel | toll free | call support`,
  charged: `
    charged | renews | renewal | subscription | order confirmed | auto renew |
    purchase .. confirmed`,
  extortion: 'recorded you | full control of your | your webcam | bitcoin | btc | compromising',
  parcel_fee: `
    delivery failed | failed delivery | package | parcel | customs charge | customs fee |
    parcel .. fee | delivery fee | pending .. parcel | redelivery`,
  voicemail: `
    voice message | voicemail | scanned image | fax message | shared with you |
    document .. shared | secure message | please sign | review and sign | geschütztes dokument |
    protected document`,
  archive_password: 'archive password | zip password | password .. archive | passwort .. archiv',
  device_code: 'devicecode | device code | login .. device | device .. enter the code',
  unsolicited: `
    prize | you won | winner | reward | rewards | voucher | lottery | inheritance | claim your |
    limited offer | survey .. voucher | million dollars | million usd`,
  impersonation: `
    impersonation | impersonat* | lookalike | look alike | display name from outside |
    executive display name | brand impersonation | similar domain | typosquat* | spoofed |
    spoofing`,
  run_this: `
    press win r | press windows r | windows key r | win r | windows r | open .. terminal |
    open .. powershell | run dialog | paste .. terminal | paste .. powershell | paste .. command |
    copy .. command .. run | ctrl v .. enter`,
  opener: `
    at your desk | quick task | quick favour | quick favor | are you available | are you free |
    mobile number | cell number | need you to | kindly | favour to ask | favor to ask`,
  human_check: 'i am not a robot | verify you are human | captcha',
} as const;
