import type { RequestsByType } from './config/requests-by-type.js';
import { CONNECTOR_SCHEMAS } from './connector-schemas.js';
import { NewConnectorDto } from './connectors.dto.js';

/** The body of a request for a connector, as the contract has it. */
export const CONNECTOR_REQUEST: RequestsByType = {
  union: 'NewConnector',
  noun: 'Connector',
  request: NewConnectorDto,
  otherFields: ['enabled', 'priority'],
  configs: CONNECTOR_SCHEMAS,
};
