import { type Look, quoting } from './conditions.js';
import { isOfTools, MESSAGES } from './facts.js';
import { onceForEach } from './hosts.js';
import { Lexicon, wordsOf } from './phrases.js';

/** Words that explain an event, in a name or a value, spelled as in `signs.ts`. A custom counts only alone. */
export const EXPLANATIONS = {
  exercise: `
    exercise | drill | simulation | pen test* | pentest* | penetration test* | red/purple team | tabletop | awareness campaign |
    training lab | rules of engagement | engagement | contract/assessment window/scope | übung | exercice | simulacro | oefening`,
  approved: `
    approv* | granted by/until/for | authoris* | authoriz* | sanctioned | permitted | sign/signed off | allow/white listed |
    allowlist* | whitelist* | allowed by/for/true | is allowed | accepted by | agreed | exception | exemption | four eyes |
    review approved/passed | reviewed by | merged | pull request | cab | dual approval/control | automation true | consent .. true/given/allow | on file |
    genehmig* | freigegeben | freigabe | bewilligt | approuv* | autoris* | aprobad* | aprobaci* | autorizad* | goedgekeurd |
    toegestaan | approvat* | autorizzat* | zatwierdz* | aprovad* | godkän* | godkend*`,
  planned: `
    planned | schedule | scheduled | announced | rehears* | downtime | maintenance | change/patch/backup/service/test/scan window |
    rollout | roll out | migration | cutover | go live | renewal | rotation | rotated | decommission* | golden image | image build |
    sysprep | packer | in .. window true | scan/backup/test job/id/name/policy | pipeline .. step | return from leave | new hire | joiner | first day | start date |
    geplant | wartung* | planifi* | prévu* | programad* | mantenimiento | gepland | onderhoud | pianificat* | manutenzione`,
  confirmed: `
    confirm* | verified by/with | validated by | acknowledg* | asked for this/it | did this/it myself | by mistake | is ours/mine |
    was me | our own | own tenant/registrar/team/service/product | badge shown/checked | in person | ordered by | expected | expects |
    recognised/recognized by | vouched | false alarm | owner/manager/team/admin/supplier/vendor/hr/requester answer/answered/reply/replied/said/says |
    callback done/ok/true | soc/security notified/informed/aware | verbally | bestätigt | erwartet | confirmé* | attendu | confirmad* | esperad* |
    bevestigd | verwacht | confermat*`,
  trip: `
    travel* | trip | calendar | out of office | absence | flight | hotel | conference | holiday | vacation | on leave | leave until/from | abroad | booking | itinerary |
    reise | dienstreise | voyage | viaje | reis | viaggio`,
  usual: `
    as usual/always/every | usually | same as/every/each | same .. previous/before/time/build | daily | nightly | hourly | weekly |
    monthly | quarterly | yearly | every/each day/night/week/month/quarter/year/hour/morning | once a day/week/month/year/quarter |
    recurring | routine | regular | regularly | since 201*/202* | within/matches baseline | known good | seen before/here true | usual/typical/normal/familiar/routine/recurring/identical .. true | täglich | wöchentlich | monatlich | jeden |
    jede | tous les | chaque | mensuel* | cada | mensual* | elke | maandelijks | dagelijks | mensile | ogni`,
} as const;
type Explanation = keyof typeof EXPLANATIONS;

/** Names under which tools put what colleagues and records know about an event. */
export const RECORDS = `
  note* | comment* | context | ticket* | change* | approv* | authori* | request | order* | contract | engagement | exercise* | drill |
  campaign | calendar | schedul* | window | maintenance | plan | planned | rollout | pipeline | cmdb | inventory | asset* | owner* |
  regist* | record* | vendor | supplier | relation* | history | baseline | known | expected | confirm* | verified | callback | said |
  says | answer* | allow* | white* | exception | exempt* | travel* | trip | hr | leave | onboard* | vault | audit | purpose | explan* |
  downtime | access | grant* | membership | shift | mdm | case | same | consent* | merged | identity | review* | commit | department |
  build | job | seen | familiar* | routine* | recurring | pull | cab | dual | verbally | scan |
  soc | absence | desk | itsm | erp | crm | assessment | project | migration | patch | issued | workorder | remark* | rationale | background | simulation | team | sanctioned | reason | tag | tags | booking | conference | itinerary`;

/** Words that deny an explanation, leave it open, or show that a stranger wrote it. */
export const DENIALS = `
  no | not | none | nobody | never | nothing | neither | without | missing | absent | lacks | den* | refus* | reject* | declin* |
  expired | pending | awaiting | waiting | open | cancel* | withdrawn | unknown | unverified | unconfirmed | unapproved | unauthori* |
  unplanned | unscheduled | unexpected | unusual | unregistered | undocumented | unexplained | unaware | failed | mismatch |
  different | differs | outside | false | null | needed | suspended | revoked | stolen | forged | self | own account | bypass* |
  before approval | claim* | alleg* | on the phone | impossible | atypical | improbable | unlikely | speed | kmh | velocity | calendartime |
  client/community/payload/customer/attacker/task comment/note | kein* | nicht | geen | niet | pas | aucun* | sin | ningun* | non |
  nessun* | nadie`;

const EXPLAINED = new Lexicon(EXPLANATIONS);
const OF_RECORDS = new Lexicon({ record: RECORDS });
const DENIED = new Lexicon({ denied: DENIALS });
const LONGEST_EXPLANATION = 300;
/** Requests, commands and templates are not words of colleagues. */
const OF_MACHINES =
  /^(?:GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS)\s|:\/\/|[?&][\w-]{1,40}=|[<{$]|\.\.\//;
/** Names of interfaces, such as `rbac.authorization.k8s.io`. Their words do not explain an event. */
const INTERFACE = /^\/\S*$|\.k8s\.io\b|^[\w-]+\.[\w-]+\/\S+$/;
const CHOSEN =
  /displayname|alternateid|email|fullname|username|useragent|principalid|justification|(?:result|request\w*|activation)reason/;

const spelled = (...said: readonly string[]): readonly string[] =>
  wordsOf(said.join(' ').replace(/[_-]/g, ' '));

/** Reads only places of tools, because a stranger may explain an attack. A denial counts for all values of its object. */
const explanationsIn = onceForEach((facts) => {
  const found = facts.all.flatMap((fact) => {
    const text = String(fact.value);
    const isOther = MESSAGES.has(fact.key) || CHOSEN.test(fact.key) || OF_MACHINES.test(text);
    if (!isOfTools(fact) || isOther || text.length > LONGEST_EXPLANATION) return [];
    const path = fact.pointer.replace(/\/\d+(?=\/|$)/g, '').split('/');
    const [parent, name] = [path.at(-2)!, path.at(-1)!];
    const isInRecord = OF_RECORDS.matchesIn(spelled(parent)).size > 0;
    if (!isInRecord && OF_RECORDS.matchesIn(spelled(name)).size === 0) return [];
    const words = spelled(isInRecord ? parent : '', name, INTERFACE.test(text) ? '' : text);
    const place = (isInRecord ? path.slice(0, -1) : path).join('/');
    const isDenied = DENIED.matchesIn(words).size > 0;
    return [{ kinds: EXPLAINED.matchesIn(words), isDenied, place, fact: quoting(fact) }];
  });
  const denied = new Set(found.flatMap(({ isDenied, place }) => (isDenied ? [place] : [])));
  return found.filter(({ place }) => !denied.has(place));
});

export const explains =
  (kind: Explanation): Look =>
  (facts) =>
    explanationsIn(facts).flatMap(({ kinds, fact }) =>
      kinds.has(kind) && (kind !== 'usual' || kinds.size === 1) ? [fact] : [],
    );

const SHOULD_EXPLAIN =
  /^(?!exploit|malware|threat).*(?:ticket|(?:^|approved|has|any)change(?:s|record|found|onfile|request)?$|cmdb|approv|authori|sanction|order|confirm|verified|asked|informed|notified|(?:owner|user|manager)reached|callback|travel(?!ler)|calendar|hr$|schedule|exception|maintenance|histor|known|expected|contract|record|(?:iban|account|bank|vendor|name|master)\w*match)/;
const NOTHING =
  /^(?:false|no|none|nobody|never|missing|mismatch|not|unknown|pending|n\/a)(?: (?!trust)[\w ,-]{1,60})?$/i;
const NO_ANSWER =
  /\b(?:denies (?:having|any|it|the|that|this)|deny it|denied (?:it|any)|not (?:reached|asked|recorded|on file|found in)|(?:not|none|nothing) (?:yet )?known|no answer|no reply|knows? nothing|nobody (?:knows|made|ordered|asked|requested)|unaware|undocumented|documentation missing|weiß nichts|weet van niets|no sabe nada|ne sait rien)\b/i;

/** Explanations that are missing or denied, at any place: nobody lies to look guilty. */
export const deniedExplanation: Look = (facts) =>
  facts.all
    .filter(({ key, value }) => {
      const text = String(value).slice(0, LONGEST_EXPLANATION).trim();
      return NO_ANSWER.test(text) || (SHOULD_EXPLAIN.test(key) && NOTHING.test(text));
    })
    .map((fact) => quoting(fact));
