import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const ACTIONS_CONTRACT: ModuleContract = {
  tags: {
    Actions: 'Requests, results and rollbacks of response actions, on an incident or without one.',
  },
  ids: { actions: { what: 'action', schema: 'ActionId' } },
  schemas: {
    ActionChange: 'A change of an action, with the current state of the action.',
    ActionChanges: 'The next changes of actions, and the cursor after them.',
    Action: 'Full details of an action: request, decision and result.',
    ActionIncident: 'The incident of an action, for the person who decides on the action.',
    ActionParameter: 'A parameter of an action type.',
    ActionParameterType: 'JSON type of the value.',
    ActionPreview: 'Expected effect of an action that waits for approval.',
    ActionResult: 'Result of an action that ended, completed or failed.',
    ActionRollback: 'Reason of a rollback.',
    ActionStatus:
      'pending_approval: waits for approval. pending: may run, and has not ended. completed, failed: has ended. rejected: will not run.',
    ActionSummary: 'An action, as shown in lists.',
    ActionType: 'An action type: its parameters, required level, rollback and availability.',
    KnownActionType: 'Action types of this version.',
    ExecutedAction: 'Outcome of a requested action, or its state if it has not ended.',
    Incident: 'Full details of an incident.',
    RolledBackAction: 'Outcome of a rollback, or its state if it has not ended.',
    HttpActionMethod: 'HTTP method.',
  },
  fields: {
    action: 'Type of the action.',
    action_id: 'Id of the action.',
    action_type: 'Type of the action: see `GET /api/actions/types`.',
    actions: 'Number of actions that may run and have not begun.',
    original_action_id: 'Id of the action that is rolled back.',
    'ActionType.parameters': 'Parameters of a request.',
    supports_rollback: 'Whether another type undoes this type.',
    channel: 'Channel of the message, by its name in the tool.',
    duration_minutes: 'Duration in minutes. Default: until the action is rolled back.',
    hash: 'MD5, SHA-1 or SHA-256 of a file, in hex.',
    host_id: 'Host, by its name or id in the tool that executes the action.',
    message_id: 'Message-ID of the email.',
    priority: 'Priority of the ticket, in the words of the tool.',
    recipient:
      'Person who gets the message, or mailbox of the email. Default: that of the connector.',
    user: 'Account, by its name or id in the tool that executes the action.',
  },
};
