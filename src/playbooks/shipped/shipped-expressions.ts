/* Expressions and texts that several shipped playbooks share. */

/** Tools name a firewall or a gateway by its address alone. Endpoint tools know hosts by their names. */
export const HAS_HOST = 'has(incident.fields.host) && !isIP(incident.fields.host)';

/** Names of accounts that are not a person: the administrator of a system, machines, roles and services. */
const NAME = 'incident.fields.user.lowerAscii()';
const NO_PERSON = [
  `${NAME} in ["root", "system"]`,
  `${NAME}.endsWith("$")`,
  `["-role", "_role", ".gserviceaccount.com"].exists(end, ${NAME}.endsWith(end))`,
  `["role/", ":role", "svc-", "svc_", "svc."].exists(part, ${NAME}.contains(part))`,
];
export const HAS_PERSON = `has(incident.fields.user) && !(${NO_PERSON.join(' || ')})`;

export const IS_MALICIOUS = 'has(verdict.classification) && verdict.classification == "malicious"';
export const IS_SUSPECT =
  'has(verdict.classification) && verdict.classification in ["malicious", "suspicious"]';

const VERDICT = '{{ has(incident.classification) ? incident.classification : "not judged yet" }}';

/** A known field with its label; nothing where the incident has none. */
function fact(field: string, label: string, end: string): string {
  const value = `incident.fields.${field}`;
  return `{{ has(${value}) ? "${label}: " + oneLine(${value}) + "${end}" : "" }}`;
}

type Facts = Readonly<Record<string, string>>;

export const TICKET_TITLE =
  '{{ incident.incident_number }} ({{ incident.severity }}): {{ oneLine(incident.title) }}';

/** One line for each fact, and then what the playbook has found out. */
export function ticketText(fields: Facts, found: Facts): string {
  const facts = Object.entries(fields).map(([field, label]) => fact(field, label, '\\n'));
  const outcomes = Object.entries(found).map(([label, step]) => {
    const result = `steps.${step}.result`;
    return `${label}: {{ has(${result}) ? ${result}.message : "not done" }}`;
  });
  return `Type: {{ incident.incident_type }}
Severity: {{ incident.severity }}
Verdict: ${VERDICT}
Source: {{ oneLine(incident.source) }}
${facts.join('')}${outcomes.join('\n')}`;
}

/** What the team reads first: which incident, how bad, about whom and what, and what happens now. */
export function teamMessage(playbook: string, fields: Facts): string {
  const facts = Object.entries(fields).map(([field, label]) => fact(field, label, '. '));
  return `{{ incident.incident_number }} ({{ incident.severity }}, ${VERDICT}): {{ oneLine(incident.title) }}. ${facts.join('')}${playbook} has begun; what needs approval waits for it.`;
}
