import type { ConfigSchema } from '../targets/target-config.js';
import { givenSchema } from './channels/channel.port.js';
import { EMAIL_CHANNEL_SCHEMA } from './channels/email/email.channel.js';
import { PAGERDUTY_CHANNEL_SCHEMA } from './channels/pagerduty/pagerduty.channel.js';
import { SLACK_CHANNEL_SCHEMA } from './channels/slack/slack.channel.js';
import { TEAMS_CHANNEL_SCHEMA } from './channels/teams/teams.channel.js';
import { ROTATED_SECRET, WEBHOOK_SCHEMA } from './channels/webhook/webhook.channel.js';
import type { RequestsByType } from '../targets/target-contract.js';
import { NotificationChannelInputDto } from './notification-channels.dto.js';

/**
 * The configuration that is given for each type, for the contract, which is made while there is no ChannelTypes to ask. A
 * test holds the two against each other.
 */
export const CHANNEL_SCHEMAS: Readonly<Record<string, ConfigSchema>> = {
  slack: SLACK_CHANNEL_SCHEMA,
  teams: TEAMS_CHANNEL_SCHEMA,
  email: EMAIL_CHANNEL_SCHEMA,
  pagerduty: PAGERDUTY_CHANNEL_SCHEMA,
  webhook: givenSchema({ config: WEBHOOK_SCHEMA, rotates: ROTATED_SECRET }),
};

/** The body of a request for a channel, as the contract has it. */
export const CHANNEL_REQUEST: RequestsByType = {
  union: 'NotificationChannelInput',
  noun: 'Channel',
  configNoun: 'Channel',
  request: NotificationChannelInputDto,
  otherFields: ['enabled', 'events', 'min_severity', 'new_incident_min_severity'],
  configs: CHANNEL_SCHEMAS,
};
