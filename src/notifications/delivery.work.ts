import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { ActionsService } from '../actions/actions.service.js';
import { Incidents } from '../incidents/incidents.js';
import { Clock } from '../platform/clock.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { Settings } from '../platform/config/settings.js';
import { afterCommit, Transactions, type Tx } from '../platform/database/transactions.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { firstIdAt } from '../platform/ids.js';
import { traced } from '../platform/tracing/tracing.js';
import { AgainOutcome, type Claimed } from '../platform/work/kind.js';
import { Work } from '../platform/work/work.js';
import { ChannelAttempts } from './channel-attempts.js';
import type { Outcome } from './channel-type.js';
import {
  DeliveriesRepository,
  type EndedAttempt,
  type FoldedDelivery,
  type Held,
  membersOf,
} from './deliveries.repository.js';
import { endingOf } from './delivery-rules.js';
import { type Delivery, NOTIFICATION } from './delivery.entity.js';
import { foldedMessage, type PresentState } from './messages/folded-message.js';
import { isEventName, messageOf } from './notification.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';
import {
  CHANNEL_TYPES,
  NotificationChannelsRepository,
} from './notification-channels.repository.js';

const KEPT_MS = 30 * 86_400_000;
const CLEAN_UP_SIZE = 5_000;

const REQUESTS_APPROVAL = ['action.pending_approval', 'action.expiring'];
const MAY_END_A_WAVE = ['action.expiring', 'action.completed', 'action.failed', 'action.rejected'];
const DECIDED = 'Not sent: all requested approvals were decided before.';

interface Ready extends FoldedDelivery {
  readonly channel: NotificationChannelEntity;
  readonly present: PresentState;
}

type Attempt = Ready & EndedAttempt;

/** Sends deliveries. An attempt holds no database connection. */
@Injectable()
export class DeliveryWork implements OnModuleInit {
  private readonly log = new Logger('Notifications');
  private readonly publicUrl: string | undefined;
  /** Returns `undefined` for a delivery that has ended or is carried by another message. */
  private readonly prepared = new Batcher<Claimed, Ready | Held | undefined>(
    (claims) => this.transactions.run((tx) => this.prepare(tx, claims)),
    100,
    1,
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly deliveries: DeliveriesRepository,
    private readonly channels: NotificationChannelsRepository,
    private readonly incidents: Incidents,
    private readonly actions: ActionsService,
    private readonly attempts: ChannelAttempts,
    private readonly work: Work,
    private readonly clock: Clock,
    @InjectMetric('notification_attempts_total')
    private readonly attemptCount: Counter<'type' | 'outcome'>,
    @InjectMetric('notification_deliveries_dead_total') private readonly deadCount: Counter<'type'>,
    { publicUrl }: Settings,
  ) {
    this.publicUrl = publicUrl?.replace(/\/+$/, '');
  }

  onModuleInit(): void {
    const type = CHANNEL_TYPES.names;
    beginAtZero(this.attemptCount, { type, outcome: ['delivered', 'failed', 'refused'] });
    beginAtZero(this.deadCount, { type });
    this.work.define<unknown, Attempt | undefined>({
      ...NOTIFICATION,
      hasLanes: true,
      mostAttempts: Infinity,
      one: (claim) => this.deliver(claim),
      write: async (tx, ended) => {
        const attempts = ended.flatMap(({ result }) => result ?? []);
        await this.write(tx, attempts);
      },
    });
    this.work.every('clean-up-notifications', 600, () => this.cleanUp());
    this.work.every('report-unhealthy-channels', 30, () => this.attempts.reportUnhealthy());
  }

  async cleanUp(): Promise<void> {
    const before = firstIdAt(this.clock.now().getTime() - KEPT_MS);
    while ((await this.expire()) === CLEAN_UP_SIZE);
    while ((await this.deliveries.prune(before, CLEAN_UP_SIZE)) === CLEAN_UP_SIZE);
  }

  private async deliver(claim: Claimed) {
    const prepared = await this.prepared.submit(claim);
    if (!prepared) return undefined;
    if ('heldMs' in prepared) {
      return new AgainOutcome<Attempt>({ inMs: prepared.heldMs, countsAsAttempt: false });
    }
    const outcome = await this.send(prepared, claim.signal);
    const ending = endingOf(outcome, prepared, Math.random());
    const attempt = { ...prepared, outcome, ending };
    if (ending.kind === 'delivered' || ending.kind === 'dead') return attempt;
    return new AgainOutcome<Attempt>({ inMs: ending.waitMs ?? 0, why: ending.error }, attempt);
  }

  /** Runs in the transaction that ends the claims, so lost claims change nothing. */
  private async write(tx: Tx, attempts: readonly Attempt[]): Promise<void> {
    await this.attempts.store(tx, attempts);
    await this.deliveries.write(tx, attempts);
    afterCommit(tx, () => {
      for (const { channel, outcome, ending, delivery } of attempts) {
        this.attemptCount.inc({ type: channel.type, outcome: outcome.kind });
        if (ending.kind !== 'dead') continue;
        this.deadCount.inc({ type: channel.type });
        const about = { channel: channel.name, delivery: delivery.id, event: delivery.type };
        this.log.warn(about, `A notification is dead: ${ending.error}`);
      }
    });
  }

  private async expire(): Promise<number> {
    return await this.transactions.run(async (tx) => {
      const types = await this.deliveries.expire(tx, CLEAN_UP_SIZE);
      const dead = types.filter((type) => type !== null);
      afterCommit(tx, () => {
        for (const type of dead) this.deadCount.inc({ type });
        if (dead.length > 0) this.log.warn({ n: dead.length }, 'Notifications expired.');
      });
      return types.length;
    });
  }

  private async send(
    { channel, delivery, carried, present }: Ready,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { id, type, incident_id } = delivery;
    // The channel may have selected an event of a later release.
    if (!isEventName(type)) return { kind: 'refused', why: `This release knows no event ${type}.` };
    const messageFor = (one: Delivery) => {
      const { incident_number } = present.incidents.get(one.incident_id ?? '') ?? {};
      return messageOf(type, { ...one, incident_number, public_url: this.publicUrl });
    };
    const message = () =>
      foldedMessage([messageFor(delivery), ...carried.map(messageFor)], present);
    const incident = incident_id ?? undefined;
    const attributes = { 'delivery.id': id, 'event.type': type, 'incident.id': incident };
    return await traced(
      () => ({ name: `notification ${channel.type}`, kind: 'internal', attributes }),
      async (span) => {
        const outcome = await this.attempts.send(channel, message, signal, delivery);
        span?.note({ 'delivery.outcome': outcome.kind });
        return outcome;
      },
    );
  }

  /** Loads current states, because a message may have waited. Ends requests for approvals that were all decided since. */
  private async prepare(tx: Tx, claims: readonly Claimed[]): Promise<(Ready | Held | undefined)[]> {
    const messages = await this.deliveries.messages(tx, claims);
    const folded = [...messages.values()].filter((one) => 'delivery' in one);
    const channels = await this.channels.byIds(
      tx,
      folded.map(({ delivery }) => delivery.channel_id),
    );
    const audienceOf = ({ delivery }: FoldedDelivery) =>
      channels.get(delivery.channel_id)?.audience;
    const all = folded.flatMap(membersOf);
    const incidentIds = all.flatMap(({ incident_id }) => incident_id ?? []);
    const incidents = await this.incidents.statesOf(tx, incidentIds);
    // A pager has one alert for all approvals of a message.
    const mayEndWave = (one: FoldedDelivery) =>
      audienceOf(one) === 'pager' && MAY_END_A_WAVE.includes(one.delivery.type);
    const ofWaves = folded.filter(mayEndWave).map(({ delivery }) => delivery.id);
    const waves = await this.deliveries.wavesOf(tx, ofWaves);
    const requested = all.filter(requestsApproval).map(({ subject_id }) => subject_id);
    const actionIds = [...new Set([...requested, ...[...waves.values()].flat()])];
    const waiting =
      actionIds.length > 0
        ? await this.actions.waitingAmong(tx, actionIds)
        : new Map<string, undefined>();
    const isPointless = (one: FoldedDelivery) =>
      requestsApproval(one.delivery) &&
      (audienceOf(one) ?? 'programs') !== 'programs' &&
      !membersOf(one).some(({ subject_id }) => waiting.has(subject_id));
    await this.deliveries.drop(tx, folded.filter(isPointless), DECIDED);
    return claims.map(({ ref }) => {
      const one = messages.get(ref);
      if (!one || 'heldMs' in one) return one;
      const channel = channels.get(one.delivery.channel_id);
      if (!channel || isPointless(one)) return undefined;
      return { ...one, channel, present: { incidents, waiting, wave: waves.get(ref) } };
    });
  }
}

const requestsApproval = ({ type }: Delivery): boolean => REQUESTS_APPROVAL.includes(type);
