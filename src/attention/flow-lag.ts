// SQL: one statement reads the first row of each queue by its index.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HealthComponents } from '../platform/health-components.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

const firstIn = (lane: string): string =>
  `select due_at from work where work.lane = ${lane} and ready order by urgency, due_at, id limit 1`;

/** SQL for the first item of each queue, in processing order: from the webhook event to its last notification. */
const FIRST_OF = {
  receipts: `select received_at from webhook_events where status = 'queued' order by id limit 1`,
  events: `
    select min(first.due_at) from work_lanes cross join lateral (${firstIn('work_lanes.lane')}) as first
     where types <> '{}'`,
  triage: `
    select due_at from (${firstIn(`'triage'`)}) as first
     where not exists (select from work_lanes where lane = 'triage' and paused_until > now())`,
  playbooks: firstIn(`'playbook-run'`),
  actions: `select min(due_at) from work where kind = 'action' and ready`,
  notifications: `
    select min(first.due_at) from notification_channels channel
      join work_lanes on lane = 'notification.' || channel.id
     cross join lateral (${firstIn('work_lanes.lane')}) as first
     where channel.enabled and channel.failures = 0 and (paused_until is null or paused_until <= now())`,
} as const;

type Stage = keyof typeof FIRST_OF;
const STAGES = Object.keys(FIRST_OF) as Stage[];

const LAG: Statement = {
  name: 'flow_lag',
  text: `select ${STAGES.map(
    (stage) =>
      `greatest(0, coalesce(extract(epoch from now() - (${FIRST_OF[stage]})), 0))::float8 as ${stage}`,
  ).join(', ')}`,
};

/** Age of the first item of each queue: webhook events are accepted even if later queues are slow. */
@Injectable()
export class FlowLag implements OnModuleInit {
  constructor(
    private readonly statements: Statements,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.gauges.register('flow_oldest_waiting_seconds', async () => {
      const seconds = await this.seconds();
      return STAGES.map((stage) => [{ stage }, seconds[stage]] as const);
    });
    this.components.addDetails('jobs', async () => ({
      oldest_waiting_seconds: Math.round(Math.max(...Object.values(await this.seconds()))),
    }));
  }

  private async seconds(): Promise<Readonly<Record<Stage, number>>> {
    return (await this.statements.rows<Record<Stage, number>>(LAG))[0]!;
  }
}
