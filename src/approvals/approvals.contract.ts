import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const APPROVALS_CONTRACT: ModuleContract = {
  tags: { Approvals: 'Decisions of people on actions that need approval.' },
  schemas: {
    ActionApproval: 'Options of an approval.',
    ActionRejection: 'Reason of a rejection.',
    ApprovedAction: 'An approved action, with its result if it has ended.',
    RejectedAction: 'A rejected action.',
  },
  fields: {
    approved_at: 'Time of the approval.',
    approved_by: 'Principal who approved it.',
    rejected_at: 'Time of the rejection.',
    rejected_by: 'Principal who rejected it; `system` if nobody decided in time.',
    rejection_reason: 'Reason of the rejection.',
  },
};
