import {
  all,
  any,
  atLeast,
  byTool,
  circumstances,
  type Condition,
  isFalse,
  isTrue,
  type Look,
  reads,
  says,
  saysBeside,
  signs,
  unless,
} from './conditions.js';

const PLACE = /(?:country|location|geo|home)[^/]*(?:\/[^/]+)?$/;
const regions = new Intl.DisplayNames(['en'], { type: 'region' });
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const COUNTRIES = new Map(
  LETTERS.flatMap((one) => LETTERS.map((two) => one + two)).flatMap((code) => {
    const name = regions.of(code)!.toUpperCase();
    return name === code ? [] : [[code, name] as const, [name, name] as const];
  }),
);
/** Finds two different countries. `DE`, `Germany` and `Berlin, DE` are the same country. */
export const twoCountries: Look = (facts) => {
  const named = facts.all.flatMap((fact) => {
    const last = String(fact.value).slice(-64).split(',').at(-1)!.trim().toUpperCase();
    const unknown = /country/.test(fact.key) && /^[\p{L} .-]{2,64}$/u.test(last) ? last : undefined;
    const country = PLACE.test(fact.path) ? (COUNTRIES.get(last) ?? unknown) : undefined;
    return country === undefined ? [] : [[country, fact] as const];
  });
  const byCountry = new Map(named);
  return byCountry.size > 1 ? [...byCountry.values()] : [];
};

/** Finds at least three answers that denied or timed out, and one answer that approved. */
const denials: Look = (facts) => {
  const answers = facts.named('r', 'result', 'response', 'answer', 'status', 'outcome');
  const refused = answers.filter(({ value }) =>
    /^(?:denied|timeout|timed out|rejected|no response)$/i.test(String(value)),
  );
  const approved = answers.filter(({ value }) =>
    /^(?:approved|accepted|success)$/i.test(String(value)),
  );
  return refused.length >= 3 && approved.length > 0 ? [approved[0]!, ...refused.slice(0, 3)] : [];
};
const approvedAfterDenials = any(
  denials,
  all(
    atLeast(
      3,
      /(?:push\w*|prompt\w*|mfa\w*|factor\w*|notification\w*)(?:reject|den[iy]|declin|fail|timeout|timedout|ignored|unanswered)\w*|(?:reject|den[iy]|declin|fail|ignored)\w*(?:push|prompt|mfa|request)\w*/,
    ),
    reads(
      /result|outcome|approv|accept|last|final|status/,
      /^(?:true|[1-9]\d*|approved|accepted|success|granted)\b/i,
    ),
  ),
);

/** Finds the name of a call if there is no error code. */
const callSucceeded: Look = (facts) =>
  facts.named('errorcode').some(({ value }) => /[a-z]/i.test(String(value)))
    ? []
    : facts
        .named('eventname', 'operation', 'operationname', 'methodname', 'activitydisplayname')
        .slice(0, 1);
const openedToAll = any(
  all(
    reads('eventname', /^AuthorizeSecurityGroupIngress$/),
    reads('cidrip cidripv6', /^(?:0\.0\.0\.0\/0|::\/0)$/),
    reads('fromport', /^(?!80$|443$)-?\d+$/),
  ),
  all(reads('principal aws', /^\*$/), reads('effect', /^Allow$/i)),
  all(
    reads('sourceaddressprefix', /^(?:\*|any|internet|0\.0\.0\.0(?:\/0)?)$/i),
    reads('access', /^Allow$/i),
  ),
  all(
    reads('eventname', /^Modify(?:Snapshot|Image|DBSnapshot|DBClusterSnapshot)Attribute$/),
    reads(/^(?:group|valuestoadd|userid)$/, /^(?:all|\d{12})$/i),
  ),
  reads('member members', /^all(?:Authenticated)?Users$/),
  all(
    reads('eventname', /^(?:Put\w*Acl|CreateBucket)$/),
    reads(/acl|uri|grant/, /public-read|AllUsers|AuthenticatedUsers/),
  ),
);

/** Finds signs of a hidden network. Ignores addresses: `support@hosting.example` names a company, not a network. */
const hiddenNetwork = saysBeside(/\S+@\S+|\w+:\/\/\S+/g, 'hidden_network');

const TRIES =
  /^(?!\w*(?:reason|code|time|status|id)$)(?:\w*fail\w*|\w*attempts?\w*|count|\w*tries|calls|401)$/;
const WENT_WELL = 'success successes accepted successcount successfullogins successful 200';
const accountsTried = (least: number) =>
  any(
    all(says('guessing'), atLeast(least, 'accounts users')),
    atLeast(
      least,
      /^(?:distinct|unique|failed|invalid|targeted)\w*(?:users?|accounts?|usernames?)$|^(?:users?|accounts?)(?:tried|affected|targeted|failed|count)$/,
    ),
  );
const manyAccounts = accountsTried(50);
const LOG_KEYS = /log|message|raw$|tail|output/;
/** A line of a log counts at least 100 failures. */
const manyFailuresTold = reads(
  LOG_KEYS,
  /\b[1-9]\d{2,6} (?:failures|failed)\b|\bfailed\b.{0,80}\bcount=[1-9]\d{2}/i,
);
/** The name and the roles of the account that acts are no act. */
const privilegeMoved: Condition = {
  only: ({ key, path }, facts) =>
    !/useridentity\//.test(path) &&
    !(key === 'roles' && facts.named('authenticationrequirement').length > 0),
  from: says('privilege'),
};
/** Excludes up to five wrong passwords before the right password, because a person may mistype. */
const guessedIn = unless(byTool(TRIES, /^[1-5]$/), says('guessed'));
/** The sign-in needed no second factor: an earlier token contains it. Entra writes this text for most sign-ins. */
const tokenSatisfied = reads(
  /mfa|factor|auth|status|detail/,
  /previously satisfied|satisfied by (?:claim in the )?token|same as previous sign/i,
);
const DEVICE_KEYS = 'device devicename devicestate deviceid trusttype';
/** A member was added to a group. Windows writes these events for groups of the domain, the machine or the forest. */
const joined = any(
  says('group_joined'),
  all(
    reads('eventid eventcode winlogeventid code', /^(?:4728|4732|4756)$/),
    reads(
      'group groupname targetgroup targetusername targetaccountname',
      /\b(?:(?:domain|enterprise|schema|key) admins|administrators|(?:account|backup|server|print) operators|dnsadmins|group policy creator owners)$/i,
    ),
  ),
  reads(
    LOG_KEYS,
    /\bmember was added to a security-enabled\b.{1,900}\bgroup name:\s{0,9}(?:domain|enterprise|schema) admins\b/is,
  ),
);

// prettier-ignore
export const ACCOUNT_RULES = [...signs([
  ['many_failures', 25, 'brute_force', 'scan', 'T1110', 'Very many sign-ins failed.',
    all(
      atLeast(100, TRIES),
      any(says('guessing', 'new_place', 'travel', 'legacy_protocol', 'push_denied'), manyAccounts))],
  ['many_accounts', 30, 'brute_force', 'scan', 'T1110.003', 'At least 10 accounts were tried.',
    accountsTried(10)],
  ['failures_of_one', 20, 'brute_force', 'scan', 'T1110.001', 'One account was tried very often.',
    all(
      atLeast(50, TRIES),
      reads('eventid eventcode reason status', /^4625$|^4771$|wrong password|bad_password/i))],
  ['one_got_in', 30, 'brute_force', 'scan', 'T1110', 'After many failures a sign-in succeeded.',
    any(
      guessedIn,
      all(any(atLeast(100, TRIES), manyAccounts, manyFailuresTold), any(atLeast(1, WENT_WELL), reads(/^success\w*(?:user|account|upn)\w*$/, /\S/), reads('eventid', /^4624$/), reads(LOG_KEYS, /\bAccepted (?:password|publickey) for\b|\bfollowed by (?:event )?4624\b/), reads('mfa', /^not enrolled$/i))))],
  ['stuffing', 55, 'credential_stuffing', 'finding', 'T1110.004',
    'Passwords of leaked lists are tried on many accounts.',
    any(
      says('stuffing'),
      all(
        manyAccounts, reads('listmatch passwordlist credentialsource', /\b(?:breach|leak|combo)/i)),
      atLeast(0.5, 'passwordreuselistmatch'), all(atLeast(1000, '401'), atLeast(1, '200')))],
  ['token_reuse', 40, 'account_takeover', 'finding', 'T1550.004 T1539',
    'A session or token was stolen, or used from a second place.',
    any(
      says('token_reuse'),
      isTrue(/same(?:session|token|cookie)\w*|(?:session|token|cookie)(?:reused|replayed|stolen|hijack\w*)/),
      all(tokenSatisfied, any(twoCountries, says('travel', 'hidden_network'), isTrue('isanonymousproxy newdevice newcountry newlocation'))))],
  ['pushed_until_approved', 60, 'account_takeover', 'finding', 'T1621',
    'Requests for approval were denied again and again, until one was approved.',
    any(approvedAfterDenials, says('push_gave_in'))],
  ['push_flood', 35, 'account_takeover', 'finding', 'T1621',
    'The tool speaks of an account that is flooded with requests for approval.',
    says('push_flood')],
  ['fraud_report', 35, 'account_takeover', 'finding', 'T1078',
    'The owner of the account reports that a stranger used it.', says('fraud_report')],
  ['much_read_after', 15, 'account_takeover', 'work', 'T1114',
    'Very many files or messages were read afterwards.',
    any(
      atLeast(500, /(?:messages|mails|emails|items|files?|records|objects|rows|documents)\w*(?:export|download|read|cop|delet|access|sync|transfer)\w*|(?:export|download|copied|uploaded)\w*(?:files|items|messages|records|objects|count)$/),
      all(atLeast(500, 'count'), reads('operation', /download/i)),
      atLeast(100_000, /^(?:rows|records)(?:read|returned|affected|exported)?$/),
      reads('event', /download \d[\d,]{3,} files/i))],
  ['factor_changed', 18, 'account_takeover', 'work', 'T1098.005 T1556.006',
    'A second factor or a device was added or changed.', says('factor_changed')],
  ['consent', 30, 'account_takeover', 'work', 'T1528',
    'An application was given rights to mail or files.',
    any(reads('scope scopes', /\bmail\.google\.|\/auth\/(?:gmail|drive|admin)(?!\.(?:file|appdata|readonly|metadata))/i), unless({ only: ({ path }) => /modifiedproperties\/newvalue$/.test(path), from: reads('newvalue', /^(?!.*\bScope:(?!(?:\s*(?:User\.Read|openid|profile|email)\b)+\s*[\],])).*\bScope:/) }, says('consent')))],
  ['unverified_publisher', 25, 'phishing', 'finding', 'T1528',
    'Nobody verified the publisher of the application.',
    any(
      reads(/publisher\w*$/, /^(?:unverified|not verified|none|unknown)$/i),
      isFalse(/publisher\w*verified$|verifiedpublisher$|appverified$/))],
  ['privilege', 25, 'account_takeover', 'work', 'T1098.003', 'High rights were given or taken.',
    any(privilegeMoved, reads('roledefinitionname rolename', /^(?:Owner|User Access Administrator|Role Based Access Control Administrator|Global Administrator|_SEED_ADMIN_ROLE)$/i))],
  ['cloud_access_made', 20, 'account_takeover', 'work', 'T1098.001 T1136.003',
    'New credentials or a new way to sign in were made for a cloud account.',
    all(
      reads('eventname operation operationname activitydisplayname methodname', /^(?:CreateAccessKey|CreateLoginProfile|UpdateLoginProfile|CreateUser|UpdateAssumeRolePolicy|AddUserToGroup|ImportKeyPair|CreateServiceSpecificCredential|google\.iam\.admin\.v1\.CreateServiceAccountKey|Add service principal credentials?|Update application . Certificates and secrets management ?|Add owner to (?:application|service principal))$/i),
      callSucceeded)],
  ['root_used', 20, 'account_takeover', 'work', 'T1078.004',
    'The root account of a cloud account acted.',
    all({ only: ({ path }) => /useridentity\/type$/.test(path), from: reads('type', /^Root$/) }, { only: ({ value }) => !/^(?:Describe|Get|List|Head|Lookup)/.test(String(value)), from: reads('eventname', /\S/) })],
  ['tenant_changed', 45, 'account_takeover', 'work', 'T1484.002',
    'A tenant setting was changed so that strangers can sign in or read all mail.',
    any(
      reads('activitydisplayname operation operationname', /^(?:set (?:domain authentication|federation settings on domain|domain federation settings)|set-msoldomainauthentication|set-msoldomainfederationsettings|new-federationtrust)\.?$/i),
      all(reads('operation', /^(?:New|Set|Enable)-TransportRule$/i), says('forwarding')),
      all(reads('newvalue', /\bfederated\b/i), reads('oldvalue', /\bmanaged\b/i)))],
  ['access_policy_weakened', 25, 'account_takeover', 'work', 'T1556.009',
    'A policy that protects sign-ins was deleted or disabled.',
    any(
      reads('activitydisplayname operation operationname eventtype action', /^(?:protected_branch\.destroy|org\.disable_two_factor_requirement|\w*secret_scanning\w*\.disable|(?:delete|disable)\w* (?:conditional access policy|named location|security defaults)|policy\.(?:lifecycle\.(?:delete|deactivate)|rule\.(?:delete|deactivate))|system\.mfa\.factor\.deactivate|(?:Remove|Disable)-(?:AntiPhishPolicy|SafeLinksPolicy|MalwareFilterPolicy|AtpPolicyForO365))/i),
      says('policy_weakened'))],
  ['secrets_listed', 20, 'account_takeover', 'work', 'T1552.007',
    'An account outside the system namespaces read the secrets of a cluster.',
    all(
      { only: ({ path }) => /objectref\/resource$/.test(path), from: reads('resource', /^secrets$/) },
      reads('verb', /^(?:list|watch)$/), { only: ({ path }) => /user(?:\/username)?$/.test(path), from: reads('username user', /^(?!system:(?:serviceaccount:kube-system:|kube-|node:|apiserver))./) })],
  ['mailbox_rights', 22, 'account_takeover', 'work', 'T1098.002',
    'A user received rights on the mailbox of another person.',
    reads('operation', /^(?:Add-(?:MailboxPermission|RecipientPermission|MailboxFolderPermission))$/i)],
  ['cluster_admin', 35, 'account_takeover', 'work', 'T1098.006',
    'An account or an anonymous user received rights of a cluster administrator.',
    any(
      all(reads('resource', /^(?:cluster)?rolebindings$/), reads('name', /^cluster-admin$/), reads('verb', /^(?:create|update|patch)$/)),
      all({ only: ({ path }) => /user\/username$/.test(path), from: reads('username', /^system:(?:anonymous|unauthenticated)$/) }, { only: ({ path }) => /responsestatus\/code$/.test(path), from: reads('code', /^2\d\d$/) }))],
  ['privileged_member', 28, 'account_takeover', 'work', 'T1098',
    'An account became a member of a group with high rights.', joined],
  ['cloud_log_off', 45, 'account_takeover', 'finding', 'T1685.002',
    'The log of a cloud account was turned off, which hides what comes next.',
    says('cloud_log_off')],
  ['ticket_attack', 50, 'account_takeover', 'drill', 'T1558',
    'Kerberos tickets were forged or collected.',
    any(
      says('ticket_attack'),
      all(reads('eventcode eventid code', /^476[89]$/), reads('ticketencryptiontype', /^(?:0x0*17|0x0*18|23|24|rc4.*)$/i), any(reads('preauthtype', /^0$/), atLeast(5, 'servicecount distinctservices services count requestcount ticketcount spns'))))],
  ['exposed', 20, 'account_takeover', 'work', 'T1530', 'A resource was opened to everybody.',
    any(says('exposed'), openedToAll, all(reads('action', /^repo\.(?:access|change_visibility)$/), reads('visibility', /^public$/i)))],
  ['cloud_misuse', 20, 'account_takeover', 'work', 'T1496 T1578',
    'The cloud account is used as after a theft: new machines, shared snapshots, other regions.',
    says('cloud_misuse')],
  ['weak_proof', 30, 'account_takeover', 'finding', 'T1684.001',
    'The service desk reset an account without proof of identity, or a stranger posed as support.',
    any(says('service_desk_pretext'),
      all(says('support_session'), any(says('impersonation'), reads(/./, /\b(?:external|unknown|foreign) (?:teams )?(?:user|caller|chat|tenant|sender)\b|teams\b|mail ?bomb/i))))],
  ['service_account_by_hand', 25, 'account_takeover', 'work', 'T1078.002',
    'A person signed in with a service account.',
    all(
      reads('account user username targetusername', /(?:^|\\)(?:svc|srv|sa)[_-]/i),
      reads('logontype', /^(?:2|10|11)$/))],
]), ...circumstances([
  ['guessing', 15, 'brute_force', 'scan', 'T1110', 'The tool speaks of guessing.',
    says('guessing')],
  ['travel', 20, 'impossible_travel', 'place', 'T1078',
    'One account appeared in two places within too short a time.', says('travel')],
  ['new_place', 10, 'account_takeover', 'place', 'T1078',
    'The sign-in comes from a place or with a device that is new.',
    any(
      { only: ({ path }) => !/debugdata\//.test(path), from: says('new_place') },
      reads('behaviors', /\b(?:new [\w -]{1,24}|velocity)=positive/i))],
  ['two_countries', 12, 'account_takeover', 'place', 'T1078',
    'The event names more than one country.', twoCountries],
  ['hidden_network', 20, 'account_takeover', 'place', 'T1090',
    'The address belongs to a hosting network, a proxy or Tor.',
    any(
      hiddenNetwork,
      reads('asorg isp asname asnname asnorganization asorganization networkowner', /\bhosting\b|\bvps\b|\bdata ?cent(?:er|re)\b/i),
      reads('networktype iptype ipclass connectiontype asntype usagetype', /^(?:hosting|datacenter|data center|vps|proxy|tor|anonymi[sz]er)\b/i),
      isTrue(/^(?:is|ip|src|source|client|address|network|via)*(?:tor|torexit|torexitnode|proxy|openproxy|anonymous|anonymizer|anonymous(?:proxy|ip|vpn)|hosting|hostingprovider|datacenter|residentialproxy|publicvpn|consumervpn)$/))],
  ['unknown_device', 15, 'account_takeover', 'place', 'T1078',
    'The device is not known or not managed.',
    any(
      reads(DEVICE_KEYS, /^(?:$|unknown|unregistered|unmanaged|new\b)/i),
      isFalse('iscompliant compliant managed ismanaged ismanageddevice registered'))],
  ['legacy_protocol', 20, 'account_takeover', 'place', 'T1078 T1110',
    'The sign-in needed no second factor: by a legacy protocol, or of a user whom the cloud account itself keeps.',
    any(says('legacy_protocol'), all({ only: ({ path }) => /useridentity\/type$/.test(path), from: reads('type', /^(?:IAMUser|Root)$/) }, reads('mfaused', /^no$/i), reads('consolelogin', /^success$/i)))],
  ['factor_declined', 15, 'account_takeover', 'place', 'T1621', 'The user declined the request for a second factor, after the right password.',
    reads('additionaldetails authenticationstepresultdetail reason', /\buser (?:declined|denied|rejected)\b/i)],
  ['device_code_used', 15, 'account_takeover', 'place', 'T1566',
    'A session was started by a code for devices. Command line tools do that, and phishing does.',
    says('device_code')],
  ['leaked_secret', 35, 'account_takeover', 'finding', 'T1552 T1078.004', 'A secret is known outside.',
    any(says('leaked_secret'), isTrue('publiclyleaked passwordsinstealerlog'))],
])];
