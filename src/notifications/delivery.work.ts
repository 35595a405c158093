// SQL: updates that return the changed rows.
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { Actions } from '../actions/actions.js';
import { Incidents } from '../incidents/incidents.js';
import { presentTime } from '../platform/clock.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { unlessAborted, withDeadline } from '../platform/concurrency/within.js';
import { Settings } from '../platform/config/settings.js';
import { afterCommit, Transactions, type Tx } from '../platform/database/transactions.js';
import { firstIdAt } from '../platform/ids.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { OutboundHttp } from '../platform/net/outbound-http.js';
import { OutboundSmtp } from '../platform/net/outbound-smtp.js';
import { shownStart } from '../platform/text.js';
import { traced } from '../platform/tracing/tracing.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import { AgainOutcome, type Claimed } from '../platform/work/kind.js';
import { Work } from '../platform/work/work.js';
import { withDefaults } from '../targets/target-config.js';
import { failureOf } from './channel-type.js';
import { CHANNEL_TYPES, ChannelEntity, ChannelsRepository, WORKING } from './channel.js';
import {
  DeliveriesRepository,
  type EndedAttempt,
  type FoldedDelivery,
  membersOf,
} from './deliveries.repository.js';
import {
  ATTEMPT_MS,
  type Delivery,
  endingOf,
  FAILURES_UNTIL_PROBING,
  type Failure,
  laneOf,
  MAX_ERROR,
  NOTIFICATION,
  ONE_BY_ONE_MS,
  type Outcome,
  pauseAfter,
  UNHEALTHY_AFTER_MS,
} from './delivery.js';
import { foldedMessage, type PresentState } from './messages/folded-message.js';
import { isEventName, type Message, messageOf } from './notification.js';

const KEPT_MS = 30 * 86_400_000;
const CLEAN_UP_SIZE = 5_000;

const LATE = `No answer came within ${ATTEMPT_MS / 1_000} seconds.`;
const BROKEN = 'The attempt failed in the service. The log has the cause.';
const DECIDED = 'Not sent: all requested approvals were decided before.';

interface Ready extends FoldedDelivery {
  readonly channel: ChannelEntity;
  readonly present: PresentState;
}

type Attempt = Ready & EndedAttempt;

/** Sends deliveries, and keeps the state of their channels. An attempt holds no database connection. */
@Injectable()
export class DeliveryWork implements OnModuleInit {
  private readonly log = new Logger('Notifications');
  private readonly publicUrl: string | undefined;
  /** Returns `undefined` for a delivery that has ended, or that a summary message contains. */
  private readonly prepared = new Batcher<Claimed, Ready | undefined>(
    (claims) => this.transactions.run((tx) => this.prepare(tx, claims)),
    100,
    1,
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly deliveries: DeliveriesRepository,
    private readonly channels: ChannelsRepository,
    private readonly incidents: Incidents,
    private readonly actions: Actions,
    private readonly http: OutboundHttp,
    private readonly smtp: OutboundSmtp,
    private readonly work: Work,
    private readonly events: DomainEvents,
    @InjectMetric('notification_attempts_total')
    private readonly attemptCount: Counter<'type' | 'outcome'>,
    @InjectMetric('notification_deliveries_dead_total') private readonly deadCount: Counter<'type'>,
    { publicUrl }: Settings,
  ) {
    this.publicUrl = publicUrl?.replace(/\/+$/, '');
  }

  onModuleInit(): void {
    const type = CHANNEL_TYPES.all.map(({ name }) => name);
    beginAtZero(this.attemptCount, { type, outcome: ['delivered', 'failed', 'refused'] });
    beginAtZero(this.deadCount, { type });
    this.work.define<unknown, Attempt | undefined>({
      ...NOTIFICATION,
      hasLanes: true,
      mostAttempts: Infinity,
      one: (claim) => this.deliver(claim),
      write: (tx, ended) =>
        this.write(
          tx,
          ended.flatMap(({ result }) => result ?? []),
        ),
    });
    this.work.every('clean-up-notifications', 600, () => this.cleanUp());
    this.work.every('report-unhealthy-channels', 30, () => this.reportUnhealthy());
  }

  async cleanUp(): Promise<void> {
    const before = firstIdAt(presentTime() - KEPT_MS);
    while ((await this.transactions.run((tx) => this.expire(tx))) === CLEAN_UP_SIZE);
    while ((await this.deliveries.prune(before, CLEAN_UP_SIZE)) === CLEAN_UP_SIZE);
  }

  private async expire(tx: Tx): Promise<number> {
    const types = await this.deliveries.expire(tx, CLEAN_UP_SIZE);
    const dead = types.filter((type) => type !== null);
    afterCommit(tx, () => {
      for (const type of dead) this.deadCount.inc({ type });
      if (dead.length > 0) this.log.warn({ n: dead.length }, 'Notifications expired.');
    });
    return types.length;
  }

  private async deliver(claim: Claimed) {
    const ready = await this.prepared.submit(claim);
    if (!ready) return undefined;
    const outcome = await this.sendDelivery(ready, claim.signal);
    const ending = endingOf(outcome, ready.delivery, Math.random());
    const attempt = { ...ready, outcome, ending };
    if (ending.kind !== 'again') return attempt;
    return new AgainOutcome<Attempt>({ inMs: ending.waitMs!, why: ending.error }, attempt);
  }

  /** Loads current states, because a message may have waited. Ends requests for approvals that have been decided. */
  private async prepare(tx: Tx, claims: readonly Claimed[]): Promise<(Ready | undefined)[]> {
    const messages = await this.deliveries.messages(tx, claims);
    const folded = [...messages.values()];
    const channelIds = folded.map(({ delivery }) => delivery.channel_id);
    const channels = await this.channels.byIds(tx, channelIds);
    const all = folded.flatMap(membersOf);
    const incidentIds = all.flatMap(({ incident_id }) => incident_id ?? []);
    const incidents = await this.incidents.statesOf(tx, incidentIds);
    const requested = all.filter(requestsApproval).map(({ subject_id }) => subject_id);
    const waiting =
      requested.length > 0
        ? await this.actions.waitingAmong(tx, requested)
        : new Map<string, undefined>();
    const isPointless = (one: FoldedDelivery) =>
      requestsApproval(one.delivery) &&
      (channels.get(one.delivery.channel_id)?.audience ?? 'programs') !== 'programs' &&
      !membersOf(one).some(({ subject_id }) => waiting.has(subject_id));
    await this.deliveries.drop(tx, folded.filter(isPointless), DECIDED);
    return claims.map(({ ref }) => {
      const one = messages.get(ref);
      const channel = one && channels.get(one.delivery.channel_id);
      if (!channel || isPointless(one)) return undefined;
      return { ...one, channel, present: { incidents, waiting } };
    });
  }

  private async sendDelivery(
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
        const outcome = await this.send(channel, message, signal);
        span?.note({ 'delivery.outcome': outcome.kind });
        return outcome;
      },
    );
  }

  async send(
    channel: ChannelEntity,
    message: () => Message,
    signal = new AbortController().signal,
  ): Promise<Outcome> {
    return await withDeadline(ATTEMPT_MS, signal, async (over) => {
      try {
        const type = CHANNEL_TYPES.named(channel.type);
        const sent = type.send({
          config: withDefaults(type.config, this.channels.open(channel)),
          formerSecret: this.channels.openFormer(channel),
          message: message(),
          signal: over,
          http: this.http,
          smtp: this.smtp,
        });
        // A channel type that ignores the signal must not occupy the slot.
        return await unlessAborted(over, sent);
      } catch (err) {
        signal.throwIfAborted();
        if (over.aborted) return { kind: 'failed', why: LATE };
        const failure = failureOf(err);
        if (failure) return failure;
        this.log.error({ err, channel: channel.name }, 'A notification could not be sent.');
        return { kind: 'failed', why: BROKEN };
      }
    });
  }

  /** Runs in the transaction that ends the claims. If a claim is lost, the transaction changes nothing. */
  private async write(tx: Tx, attempts: readonly Attempt[]): Promise<void> {
    await this.store(tx, attempts);
    await this.deliveries.write(tx, attempts);
    afterCommit(tx, () => {
      for (const attempt of attempts) {
        const { channel, outcome, ending, delivery } = attempt;
        const { name, type } = channel;
        this.attemptCount.inc({ type, outcome: outcome.kind });
        if (ending.kind !== 'dead') continue;
        this.deadCount.inc({ type }, outcome.kind === 'delivered' ? 1 : membersOf(attempt).length);
        const about = { channel: name, delivery: delivery.id, event: delivery.type };
        this.log.warn(about, `A notification is dead: ${ending.error}`);
      }
    });
  }

  /** Locks channels in the order of ids. Does not lock a channel that stays healthy: its other deliveries would wait. */
  async store(tx: Tx, attempts: readonly Pick<Attempt, 'channel' | 'outcome'>[]): Promise<void> {
    const byChannel = [...Map.groupBy(attempts, ({ channel }) => channel.id)].sort();
    for (const [id, ofChannel] of byChannel) {
      const recovers = ofChannel.some(
        ({ channel, outcome }) =>
          outcome.kind === 'delivered' &&
          (channel.failing_since ?? channel.unhealthy_reported_at) !== null,
      );
      if (recovers) await this.storeSuccess(tx, id);
      for (const { channel, outcome } of ofChannel) {
        if (outcome.kind === 'delivered') continue;
        await this.storeFailure(tx, id, outcome, recovers ? 0 : channel.failures);
      }
    }
  }

  async resume(tx: Tx, channelId: string): Promise<void> {
    await this.storeSuccess(tx, channelId);
    await this.hurry(tx, channelId);
  }

  async hurry(tx: Tx, channelId: string): Promise<void> {
    await this.work.resumeLane(tx, laneOf(channelId));
    await this.work.hurryLane(tx, laneOf(channelId));
  }

  /** Reports each series of failures once. A change of the configuration does not begin a new series. */
  async reportUnhealthy(): Promise<void> {
    await this.transactions.run(async (tx) => {
      const [failing] = await tx.query<[ChannelEntity[]]>(
        `update notification_channels set unhealthy_reported_at = now()
          where id = any(array(
            select id from notification_channels channel
             where enabled and unhealthy_reported_at is null
               and failing_since <= now() - interval '${UNHEALTHY_AFTER_MS} ms'
               and (failures >= ${FAILURES_UNTIL_PROBING} or exists (
                 select from notification_deliveries where channel_id = channel.id and status = 'pending'))
             order by id for update))
         returning id, name, type, failing_since, last_error`,
      );
      for (const channel of failing) {
        const { failing_since, last_error: message } = channel;
        await this.report(tx, channel, 'unhealthy', { message, failing_since });
        const text = `A notification channel is unhealthy: ${message}`;
        afterCommit(tx, () => this.log.warn({ channel: channel.name }, text));
      }
    });
  }

  private async storeSuccess(tx: Tx, id: string): Promise<void> {
    const before = await this.channels.row(id, tx);
    if (!before || !(before.failing_since ?? before.unhealthy_reported_at)) return;
    const { enabled, failures, narrow_until, unhealthy_reported_at: unhealthy_since } = before;
    // The recovery of a disabled channel is reported only after it is enabled.
    const change = { ...WORKING, ...(enabled && { unhealthy_reported_at: null }) };
    await tx.getRepository(ChannelEntity).update(id, change);
    // A success does not end a pause that the receiver requested. If the channel fails, `narrow_until` is Infinity.
    const isSlowedDown = narrow_until instanceof Date && narrow_until.getTime() > presentTime();
    if (!isSlowedDown) await this.work.resumeLane(tx, laneOf(id));
    if (failures >= FAILURES_UNTIL_PROBING) await this.work.hurryLane(tx, laneOf(id));
    if (!enabled || !unhealthy_since) return;
    await this.report(tx, before, 'recovered', { unhealthy_since });
    const channel = before.name;
    afterCommit(tx, () => this.log.log({ channel }, 'A notification channel works again.'));
  }

  /** @param earlier successive failures before the attempt */
  private async storeFailure(tx: Tx, id: string, outcome: Failure, earlier: number): Promise<void> {
    const { kind, why, isBusy } = outcome;
    const last_error = shownStart(why, MAX_ERROR);
    // Each rejected message is lost, so each rejection counts. Failures of concurrent attempts count once.
    const counted =
      kind === 'refused' ? 'failures + 1' : `greatest(failures, ${isBusy ? 0 : earlier + 1})`;
    const [[after]] = await tx.query<[Pick<ChannelEntity, 'name' | 'failures'>[]]>(
      `update notification_channels
          set failures = ${counted}, failing_since = coalesce(failing_since, now()), last_error = $2
        where id = $1 and deleted_at is null returning name, failures`,
      [id, last_error],
    );
    if (!after) return;
    const { name: channel, failures } = after;
    if (failures === 1 && !isBusy) {
      const text = `A notification channel fails: ${last_error}`;
      afterCommit(tx, () => this.log.warn({ channel }, text));
    }
    const pauseMs = pauseAfter(outcome, failures, Math.random());
    const probesMs = failures >= FAILURES_UNTIL_PROBING ? Infinity : 0;
    const narrowMs = isBusy ? pauseMs + ONE_BY_ONE_MS : probesMs;
    if (pauseMs > 0) await this.work.slowLane(tx, laneOf(id), pauseMs, narrowMs);
  }

  private async report(
    tx: Tx,
    { id, name, type }: ChannelEntity,
    what: 'unhealthy' | 'recovered',
    more: object,
  ): Promise<void> {
    const subject = { type: 'notification_channel', id };
    const payload = { name, type, ...more };
    await this.events.record(tx, { type: `notification_channel.${what}`, subject, payload });
  }
}

const requestsApproval = ({ type }: Delivery): boolean =>
  ['action.pending_approval', 'action.expiring'].includes(type);
