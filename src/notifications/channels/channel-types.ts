import { Injectable } from '@nestjs/common';
import type { ChannelType } from './channel.port.js';
import { EmailChannelType } from './email/email.channel.js';
import { PagerDutyChannelType } from './pagerduty/pagerduty.channel.js';
import { SlackChannelType } from './slack/slack.channel.js';
import { TeamsChannelType } from './teams/teams.channel.js';
import { WebhookChannelType } from './webhook/webhook.channel.js';

/** All types of channels. */
@Injectable()
export class ChannelTypes {
  readonly all: readonly ChannelType[];

  constructor(
    slack: SlackChannelType,
    teams: TeamsChannelType,
    email: EmailChannelType,
    pagerduty: PagerDutyChannelType,
    webhook: WebhookChannelType,
  ) {
    this.all = [slack, teams, email, pagerduty, webhook];
  }

  find(name: string): ChannelType | undefined {
    return this.all.find((type) => type.name === name);
  }

  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }
}
