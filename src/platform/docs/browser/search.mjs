/* Finds operations. Swagger UI passes Immutable collections. */

export function isFound(words, parts) {
  const text = parts.filter(Boolean).join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function findOperations(tagged, words) {
  return tagged
    .map((group, tag) =>
      group.set(
        'operations',
        group.get('operations').filter((entry) => isFound(words, partsOf(entry, tag))),
      ),
    )
    .filter((group) => group.get('operations').size > 0);
}

function partsOf(entry, tag) {
  const operation = entry.get('operation');
  const texts = ['summary', 'operationId', 'description', 'x-words'];
  return [tag, entry.get('method'), entry.get('path'), ...texts.map((name) => operation.get(name))];
}

/** Words that analysts use for operations but that the contract does not contain. */
export const SYNONYMS = {
  createIncident: 'report ticket case add new',
  createUser: 'add account colleague person role',
  executeAction: 'respond response contain indicator ioc reputation enrich',
  executeIncidentAction:
    'respond response contain containment remediate isolate quarantine block disable scan ticket notify',
  findPlaybookRun: 'automation workflow',
  getAttention: 'handover shift todo broken expired',
  getIncident:
    'details evidence indicator indicators ioc iocs observables raw event host user file hash url',
  listActions: 'approvals waiting queue pending containment',
  listAudit: 'log history trail who',
  listIncidentActions: 'response containment approvals',
  listIncidentReports: 'related duplicate duplicates repeat repeated update updates later',
  listIncidentTimeline: 'history story log handover notes comments',
  listIncidents:
    'search find queue alerts cases mine open wave campaign unassigned critical overview',
  listPlaybooks: 'automation workflow runbook',
  receiveWebhook: 'ingest alert alerts event events send',
  rejectAction: 'deny decline refuse',
  rollBackAction: 'revert release restore unblock unisolate enable undo',
  runPlaybook: 'automation workflow runbook start dry',
  triageIncident: 'analyse analyze judge verdict classify ai model',
  updateIncident:
    'close closing closed reopen reopening resolve note notes comment edit judge verdict false positive true positive benign malicious severity acknowledge status',
};

export function searchedWords({ operationId, parameters = [], requestBody }, resolve) {
  const media = Object.values(resolve(requestBody)?.content ?? {});
  const fields = media.flatMap(({ schema }) => Object.keys(resolve(schema)?.properties ?? {}));
  const names = parameters.map((parameter) => resolve(parameter).name);
  const words = [SYNONYMS[operationId] ?? '', ...names, ...fields].join(' ').replaceAll('_', ' ');
  // Only the title of an example says, for instance, that an incident can be resolved.
  const examples = media.flatMap((one) => Object.values(one.examples ?? {}));
  return [words, ...examples.map(({ summary }) => summary)].join(' ');
}
