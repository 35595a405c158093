import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** Texts of the contract that do not belong to a DTO or a handler. */
export const WEBHOOKS_CONTRACT: ModuleContract = {
  tags: {
    Webhooks:
      'Security tools that send events, the incidents of the events, and the inbox of deliveries.',
  },
  ids: {
    'webhook-events': { what: 'event', schema: 'WebhookEventId' },
    webhooks: { what: 'webhook source', schema: 'WebhookSourceName', example: 'siem' },
  },
  schemas: {
    AcceptedReceipt: 'A delivery whose events have incidents.',
    AcceptedStatus: 'The events and their incidents are stored.',
    DeletedWebhookSource: 'A deleted source.',
    EventMapping: 'JSON pointers to the parts of an incident in an event.',
    WebhookSourceInput: 'A source to register.',
    PreviewedIncident: 'An incident that a body would create.',
    QueuedReceipt: 'A stored delivery whose incidents follow.',
    QueuedStatus: 'The event is stored; a worker creates its incident.',
    ReceivedEvent: 'Result of one event of a delivery.',
    WebhookEvent: 'A delivery with its body.',
    WebhookEventSummary: 'A delivery, as shown in lists.',
    WebhookPreset: 'Settings for a tool that sends events, with the steps at the tool.',
    WebhookPreview: 'The incidents that a body would create.',
    WebhookReceipt: 'Result of a delivery, by `status`.',
    WebhookSource: 'A source of events without its secret.',
    WebhookSourceName: 'Name of a source, which is its id.',
    WebhookSourceUpdate: 'Changes to a source; at least one field is required.',
    WebhookVerification: 'Response to the verification of an event hook by Okta.',
  },
  fields: { mapping: 'Pointers to the parts of an incident.' },
};
