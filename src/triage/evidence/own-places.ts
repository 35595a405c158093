/*
 * A fact in favour of an event counts only at a place where only a tool can write. A list of the places where strangers
 * can write would never be complete: headers, parameters, cookies, variables and file properties have any name. So this
 * file lists the root and those places whose keys a tool chooses. Everything below any other name is treated as text of
 * strangers.
 */

const oneOf = (names: string): string => `(?:${names.trim().split(/\s+/).join('|')})/`;

const ENVELOPES = oneOf('data event events alert alerts allfields detail records winlog');
const MAILS = 'mail email message msg';
/** Names of objects in which gateways describe a sender. A header is never an object. */
const SENDER_CHECKS = oneOf(`
  auth authentication authenticationresults authres checks spf dkim dmarc spfverdict dkimverdict dmarcverdict`);

/**
 * Names of objects that only tools write. Excludes `result` and `fields`, because search tools fill them with each
 * `name=value` of a log line. Excludes `labels`, `tags` and `metadata`, which come from files, machines and their
 * owners. Excludes `details`, which may contain anything.
 */
const OWN = oneOf(`
  process parent codesignature signature file exe dll driver package
  first second previous current signin login session outcome status location mfa mfadetail
  device devicedetail devicedetails endpoint host client source
  securitycontext authenticationdetails conditionalaccess
  network net flow connection destination remote tls cert certificate
  delivery policy policymatch threatsinfomap flaggedrules
  change changerequest maintenance rulesofengagement roe pentest vendor supplier
  engines scanners avresults sandbox reputation enrichment threatinfo
  detection history prevalence baseline intel whois analysis context
  senderhistory senderprofile userprofile userhistory profile gateway risk
  userconfirmation confirmation verification usercontext assetcontext
  hostcontext identitycontext businesscontext sendercontext orgcontext
  agent observer cloud orchestrator container rule server organization
  win eventdata system outputfields evidence imagefile filedetails
  parentprocessimagefile useraccount useridentity resource service
  additionalinfo accesskeydetails awsapicallaction remoteipdetails
  sessioncontext sessionissuer responseelements additionaleventdata responsestatus logon compliance
  networklocationdetails appliedconditionalaccesspolicies initiatedby
  user account actor principal identity target mailbox directory
  approval review drill exercise simulation schedule scan scanjob summary job
  backupjob deployment commit runner pipeline itsm erp crm ticket
  rollout pim plan engagement campaign awarenesscampaign servicedesk release
  calendar hr travel booking purchaseorder order initiatedfrom posture
  access downtime membership mdm facts enrichments extendedproperties additionaldata
  campaignapi shift onboarding parentdetails directoryfacts servicerequest assessment project migration
  issue finding partner workorder assetinfo userinfo hostinfo deviceinfo sourceinfo`);

const INVENTORIES = oneOf('asset assets srcasset sourceasset inventory cmdb');
/** An inventory may use the address of a machine as a key. No other key contains a dot or a colon. */
const ADDRESS = '[^/.:]*[.:][^/]*/';

/** Names of the notes of a department: `accounts_payable_note`, `hr_record`, `service_desk_case`. */
const BUSINESS_RECORD =
  '(?:accountspayable|ap|erp|crm|hr|itsm|cmdb|soc|servicedesk|helpdesk|asset|travel|calendar|finance|procurement|legal|facility|badge|mdm|vendor|supplier|change|patch|backup|scan|maintenance|engagement)(?:note|notes|record|records|entry|case|check|context|status)/';

/** Names of notes. `latestreport` is the newest report, which the service adds to the first event of an incident. */
const NOTED =
  '(?:\\w{0,24}(?:calendar|schedule|window|context|enrichment|inventory|cmdb|asset|record|records|lookup|hr|approval|confirmation|history|baseline|profile|directory|prevalence|knowledge|notes|checks?)|src|dst|dest|source|target|subject|caller|initiator|sourceasset|origin|destination|targetasset|site|location|relationship|sender|kibana|alert|partner|contract|\\w{0,12}feed|exception|privilege|shift|roster|engagement|redteam|simulation\\w{0,12}|\\w{0,24}register|\\w{0,24}review|stack)/';
const OUTER = `(?:latestreport/)?(?:${ENVELOPES})*`;
const OWN_PLACE = new RegExp(
  `^${OUTER}(?:(?:${oneOf(MAILS)})?(?:${SENDER_CHECKS})+|(?:${OWN}|${NOTED})*|(?:${BUSINESS_RECORD})|${INVENTORIES}(?:${ADDRESS})?)[^/]*$`,
);
const MAIL_PLACE = new RegExp(`^${OUTER}${oneOf(`${MAILS} original`)}[^/]*$`);

export const OWN_PLACES = OWN_PLACE.source;

/** True if only a tool writes at the path: names from the root, in small letters and digits, joined by `/`. */
export function isOwnPlace(path: string): boolean {
  return OWN_PLACE.test(path);
}

/** True if a member holds a JSON log line, which strangers may write. Wazuh puts it into `data` (decoder `json`). */
export function isDecodedJson(key: string, parent: object): boolean {
  const { decoder } = parent as { readonly decoder?: { readonly name?: unknown } | null };
  return key === 'data' && decoder?.name === 'json';
}

export function isInMail(path: string): boolean {
  return MAIL_PLACE.test(path);
}
