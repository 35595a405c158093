import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** What the contract says about this module beside its DTOs and controllers. */
export const WEBHOOKS_CONTRACT: ModuleContract = {
  tags: {
    Webhooks:
      'Security tools that send events, how these become incidents, and what became of each.',
  },
  ids: {
    'webhook-events': { what: 'event', schema: 'WebhookEventId' },
    webhooks: { what: 'webhook source', schema: 'WebhookSourceName', example: 'siem' },
  },
  schemas: {
    AcceptedReceipt: 'A delivery whose events have their incidents.',
    AcceptedStatus: 'The events are stored, and so are their incidents.',
    DeletedWebhookSource: 'That the source is deleted.',
    EventMapping: 'Where the parts of an incident are in an event of a source, by JSON pointers.',
    WebhookSourceInput: 'A source to register.',
    PreviewedIncident: 'An incident that a body would make.',
    QueuedReceipt: 'A delivery that is stored, and whose incident follows.',
    QueuedStatus: 'The event is stored; a worker makes its incident.',
    ReceivedEvent: 'What became of one event of a delivery.',
    WebhookEvent: 'Full details of a delivery: what was sent, and what became of it.',
    WebhookEventSummary: 'A delivery, as shown in lists.',
    WebhookPreset: 'What is known about a tool that sends events, with what to set there.',
    WebhookPreview: 'The incidents that a body would make.',
    WebhookReceipt: 'What became of a delivery: `status` tells which of the two it is.',
    WebhookSource: 'A source of events without its secret.',
    WebhookSourceName: 'The name of a source, which is its id.',
    WebhookSourceUpdate: 'Changes to a source; at least one field is required.',
    WebhookVerification: "What Okta wants to have back of an event hook's address.",
  },
  fields: { mapping: 'Where its events have what an incident needs.' },
};
