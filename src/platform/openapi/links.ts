import type { OpenAPIObject, OperationObject, ResponseObject } from '@nestjs/swagger';
import { operationsOf } from './placed-operations.js';

/** Where an answer leads: to an operation, with what it takes from the answer or from the request before. */
interface Link {
  readonly from: string;
  readonly on: readonly number[];
  readonly to: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly why: string;
}

const answer = (pointer: string) => `$response.body#${pointer}`;
const samePath = (name: string) => `$request.path.${name}`;

const OF_INCIDENT = [
  'getIncident',
  'updateIncident',
  'triageIncident',
  'executeIncidentAction',
  'listIncidentActions',
  'listIncidentTimeline',
  'listTriageRuns',
];

/** The ways that integrations go: from what an answer names to what can be done with it. */
const LINKS: readonly Link[] = [
  {
    from: 'createIncident',
    on: [201],
    to: [...OF_INCIDENT, 'deleteIncident'],
    parameters: { id: answer('/data/id') },
    why: 'The incident that was made.',
  },
  {
    from: 'listIncidents',
    on: [200],
    to: ['getIncident', 'listIncidentActions', 'listIncidentTimeline'],
    parameters: { id: answer('/data/0/id') },
    why: 'The first of the list.',
  },
  {
    from: 'getIncident',
    on: [200],
    to: ['triageIncident', 'executeIncidentAction'],
    parameters: { id: samePath('id') },
    why: 'The same incident.',
  },
  {
    from: 'getIncident',
    on: [200],
    to: ['updateIncident', 'deleteIncident'],
    parameters: { id: samePath('id'), 'header.If-Match': '$response.header.ETag' },
    why: 'The incident as it was read.',
  },
  {
    from: 'receiveWebhook',
    on: [200],
    to: ['getIncident'],
    parameters: { id: answer('/incident_id') },
    why: 'The incident that the event made.',
  },
  {
    from: 'receiveWebhook',
    on: [202],
    to: ['getWebhookEvent'],
    parameters: { id: answer('/queue_id') },
    why: 'What becomes of the event.',
  },
  {
    from: 'listWebhookEvents',
    on: [200],
    to: ['getWebhookEvent', 'replayWebhookEvent'],
    parameters: { id: answer('/data/0/id') },
    why: 'The first of the list.',
  },
  {
    from: 'triageIncident',
    on: [200, 202],
    to: ['getTriageRun'],
    parameters: { id: samePath('id'), triage_id: answer('/data/triage_id') },
    why: 'The run.',
  },
  ...['executeIncidentAction', 'executeAction'].flatMap((from) => [
    {
      from,
      on: [200],
      to: ['getAction', 'rollBackAction'],
      parameters: { id: answer('/data/action_id') },
      why: 'The action that has ended.',
    },
    {
      from,
      on: [202],
      to: ['getAction', 'approveAction', 'rejectAction'],
      parameters: { id: answer('/data/action_id') },
      why: 'The action, which may wait for approval.',
    },
  ]),
  {
    from: 'listActions',
    on: [200],
    to: ['getAction', 'approveAction', 'rejectAction'],
    parameters: { id: answer('/data/0/id') },
    why: 'The first of the list.',
  },
  {
    from: 'approveAction',
    on: [200, 202],
    to: ['getAction', 'rollBackAction'],
    parameters: { id: samePath('id') },
    why: 'The action that was approved.',
  },
  {
    from: 'rollBackAction',
    on: [200, 202],
    to: ['getAction'],
    parameters: { id: answer('/data/rollback_action_id') },
    why: 'The action that undoes the other.',
  },
  {
    from: 'rollBackAction',
    on: [202],
    to: ['approveAction', 'rejectAction'],
    parameters: { id: answer('/data/rollback_action_id') },
    why: 'The action that undoes the other, which may wait for approval.',
  },
  {
    from: 'createPlaybook',
    on: [201],
    to: ['getPlaybook', 'updatePlaybook', 'runPlaybook', 'listPlaybookVersions', 'deletePlaybook'],
    parameters: { id: answer('/data/id') },
    why: 'The playbook that was made.',
  },
  {
    from: 'listPlaybooks',
    on: [200],
    to: ['getPlaybook', 'runPlaybook', 'listPlaybookRuns'],
    parameters: { id: answer('/data/0/id') },
    why: 'The first of the list.',
  },
  {
    from: 'runPlaybook',
    on: [202],
    to: ['getPlaybookRun', 'cancelPlaybookRun'],
    parameters: { id: samePath('id'), run_id: answer('/data/run_id') },
    why: 'The run.',
  },
  {
    from: 'createConnector',
    on: [201],
    to: ['getConnector', 'updateConnector', 'testConnector', 'deleteConnector'],
    parameters: { id: answer('/data/id') },
    why: 'The connector that was made.',
  },
  {
    from: 'createWebhookSource',
    on: [201],
    to: ['getWebhookSource', 'updateWebhookSource', 'previewWebhookEvent', 'deleteWebhookSource'],
    parameters: { source: answer('/data/source') },
    why: 'The source that was registered.',
  },
  {
    from: 'createUser',
    on: [201],
    to: ['getUser', 'updateUser', 'deleteUser'],
    parameters: { id: answer('/data/id') },
    why: 'The user that was made.',
  },
  {
    from: 'createApiKey',
    on: [201],
    to: ['deleteApiKey'],
    parameters: { id: answer('/data/id') },
    why: 'The key that was made.',
  },
  {
    from: 'listDeadJobs',
    on: [200],
    to: ['requeueDeadJob'],
    parameters: { id: answer('/data/0/id') },
    why: 'The first of the list.',
  },
];

/** Says at each answer where it leads. A link to what does not exist, or of a status that is never answered, is a mistake. */
export function addLinks(document: OpenAPIObject): void {
  const operations = new Map<string, OperationObject>();
  for (const { operation } of operationsOf(document)) {
    if (operation.operationId) operations.set(operation.operationId, operation);
  }
  for (const { from, on, to, parameters, why } of LINKS) {
    for (const status of on) {
      const response = operations.get(from)?.responses[status] as ResponseObject | undefined;
      if (!response) throw new Error(`${from} has no answer ${status} for its links.`);
      for (const operationId of to) {
        if (!operations.has(operationId))
          throw new Error(`No operation ${operationId} to link to.`);
        response.links = {
          ...response.links,
          [operationId]: { operationId, parameters, description: why },
        };
      }
    }
  }
}
