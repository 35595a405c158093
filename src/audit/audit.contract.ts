import type { ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const AUDIT_CONTRACT: ModuleContract = {
  tags: { Audit: 'Who did what. Later changes of the trail are detected.' },
  schemas: {
    AuditAction: 'Kind of an audit record.',
    AuditRecord: 'An entry of the audit trail.',
    AuditSubject: 'Subject of an entry.',
    AuditVerification: 'Result of the verification of the whole audit trail.',
  },
  fields: {
    'AuditRecord.action': 'Kind of the record, such as `incident.created`. An open set.',
    'AuditSubject.id': 'Id of the subject, or its name if it has no id.',
    'AuditRecord.hash': 'Hash of the entry in the chain.',
  },
};
