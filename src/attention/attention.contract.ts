import type { ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const ATTENTION_CONTRACT: ModuleContract = {
  tags: {
    Attention:
      'Expected results that silently failed to appear, until they are fixed or marked as done.',
  },
  ids: { attention: { what: 'item', schema: 'AttentionItemId' } },
  schemas: {
    Attention: 'Items that need attention, and their number by kind.',
    AttentionCount: 'Number of items of a kind.',
    AttentionDone: 'Reason to mark an item as done.',
    AttentionIncident: 'Incident of an item.',
    AttentionItem: 'An expected result that silently failed to appear.',
    AttentionItemId: 'Id of an item: its kind and its subject.',
    AttentionMeta: 'Position of the page in the list of items.',
    AttentionSort: 'Order of the items.',
    AttentionKind: 'Kind of failure. An open set.',
    DoneAttentionItem: 'Who marked an item as done, and why.',
    IncidentStatus:
      'open: not judged yet. triaged: it has a verdict. resolved: closed. Any status may follow any other.',
    Severity: 'Severity, from low to critical.',
  },
  fields: {
    done_at: 'Time at which the item was marked as done.',
    done_by: 'Principal who marked the item as done.',
  },
};
