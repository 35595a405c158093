import type { RequestsByType } from '../connectors/config/requests-by-type.js';
import { CHANNEL_SCHEMAS } from './channel-schemas.js';
import { NewNotificationChannelDto } from './notification-channels.dto.js';

/** The body of a request for a channel, as the contract has it. */
export const CHANNEL_REQUEST: RequestsByType = {
  union: 'NewNotificationChannel',
  noun: 'Channel',
  configNoun: 'Channel',
  request: NewNotificationChannelDto,
  otherFields: ['enabled', 'events', 'min_severity', 'new_incident_min_severity'],
  configs: CHANNEL_SCHEMAS,
};
