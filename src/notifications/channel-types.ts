import type { Provider } from '@nestjs/common';
import { TypesByName } from '../../targets/target-check.js';
import { EmailChannelType } from './email/email.channel.js';
import { PagerDutyChannelType } from './pagerduty/pagerduty.channel.js';
import { SlackChannelType } from './slack/slack.channel.js';
import { TeamsChannelType } from './teams/teams.channel.js';
import { WebhookChannelType } from './webhook/webhook.channel.js';
import type { ChannelType } from './channel.port.js';

/** Classes of all types, in the order in which the API lists them. */
const CLASSES = [
  SlackChannelType,
  TeamsChannelType,
  EmailChannelType,
  PagerDutyChannelType,
  WebhookChannelType,
];

/** All types of channels. */
export class ChannelTypes extends TypesByName<ChannelType> {}

export const CHANNEL_TYPE_PROVIDERS: Provider[] = [
  ...CLASSES,
  {
    provide: ChannelTypes,
    useFactory: (...all: ChannelType[]) => new ChannelTypes(all),
    inject: CLASSES,
  },
];
