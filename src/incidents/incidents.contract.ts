import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const INCIDENTS_CONTRACT: ModuleContract = {
  tags: { Incidents: 'Security incidents, their verdicts and their history.' },
  ids: { incidents: { what: 'incident', schema: 'IncidentReference' } },
  schemas: {
    IncidentChange: 'A change of an incident, with its current state.',
    IncidentChanges: 'The next changes of incidents, and the cursor after them.',
    IncidentReport: 'A later event about an incident.',
    Classification:
      'malicious: an attack. suspicious: possibly an attack. benign: harmless. inconclusive: the data is not sufficient.',
    ProposedVerdict: 'Verdict of a run before a person decided.',
    Withdrawn: 'Actions and runs that ended when the incident was closed.',
    CreatedIncident: 'A new incident.',
    IncidentReference: 'The id of an incident, or its number, such as INC-2026-0042.',
    Evidence: 'A value of the event, or of the result of a tool, that supports a verdict.',
    GivenVerdict: 'The verdict of a person.',
    IncidentSummary: 'An incident in a list, without its event and the reasoning of its verdict.',
    Indicator: 'A value that can be searched for in other systems.',
    IncidentInput: 'An incident to create.',
    TimelineChange: 'A changed field, with its previous and new value.',
    TimelineDetails: 'Facts of a timeline entry.',
    TimelineEntry: 'An entry of the timeline of an incident.',
    TimelineSubject: 'Second subject of an entry.',
    Verdict: 'Classification of an incident, with author and reasons.',
  },
  fields: {
    classification: 'Assessment of the event.',
    evidence: 'Values that support the verdict.',
    incident_id: 'Incident of the resource.',
    incident_number: 'Number of the incident for people: `INC-`, the year, and a unique sequence.',
    incident_type: 'Kind of incident. An open set.',
    incident_types: 'Incident types; empty for all.',
    indicators: 'Addresses, names and hashes that can be searched for in other systems.',
    severities: 'Severities; empty for all.',
    severity: 'Severity of the incident.',
    'Indicator.type': 'Kind of value, such as `url`, `domain`, `ip`, `email` or `sha256`.',
  },
};
