import { type ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const CONNECTORS_CONTRACT: ModuleContract = {
  tags: { Connectors: 'Tools that execute actions.' },
  ids: { connectors: { what: 'connector', schema: 'ConnectorId' } },
  schemas: {
    Connector: 'A connector without its secrets.',
    ConnectorHealth: 'Result of the last check of a connector.',
    ConnectorTest: 'Result of a test of a connector.',
    ConnectorType: 'A type of connector, with the schema of its configuration and its actions.',
    ConnectorUpdate: 'Changes to a connector; at least one field is required.',
  },
  fields: {
    checked_at: 'Time of the last check; absent before the first.',
    last_checked_at: 'Time of the last check; absent before the first.',
  },
};
