import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ActionsService } from '../actions/actions.service.js';
import { Incidents } from '../incidents/incidents.js';
import { Clock } from '../platform/clock.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { Transactions, type Tx } from '../platform/database/transactions.js';
import { firstIdAt } from '../platform/ids.js';
import { traced } from '../platform/tracing/tracing.js';
import { AgainOutcome, type Claimed } from '../platform/work/kind.js';
import { Work } from '../platform/work/work.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DeliveryClaimsRepository, type Held } from './delivery-claims.repository.js';
import { type Attempt, DeliveryEndings } from './delivery-endings.js';
import { type Ending, endingOf } from './delivery-rules.js';
import type { FoldedDelivery, PresentDelivery } from './delivery.js';
import { type Delivery, NOTIFICATION } from './delivery.entity.js';
import type { NotificationChannelEntity } from './notification-channel.entity.js';
import { NotificationChannelsRepository } from './notification-channels.repository.js';

/** The largest number of places that keep_lane_of_channel gives a lane. */
const PLACES_PER_CHANNEL = 128;
const CLEAN_UP_SECONDS = 600;
const UNHEALTHY_CHECK_SECONDS = 30;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const CLEAN_UP_SIZE = 5_000;

const REQUESTS_APPROVAL = ['action.pending_approval', 'action.expiring'];
const MAY_END_A_WAVE = ['action.expiring', 'action.completed', 'action.failed', 'action.rejected'];
const DECIDED = 'Not sent: all approvals that it requests were decided before.';
const IN_REOPENING = 'Not sent: the message about the reopening contains the severity.';

/** What to do with a claimed delivery: nothing, because it ended or another message contains it, wait, or send. */
type Prepared = 'ended' | Held | PresentDelivery;

/** Sends deliveries. No database connection is held during an attempt. */
@Injectable()
export class DeliveryWork implements OnModuleInit {
  private readonly prepared = new Batcher<Claimed, Prepared>(
    (claims) => this.transactions.run((tx) => this.prepare(tx, claims)),
    100,
    1,
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly claims: DeliveryClaimsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly channels: NotificationChannelsRepository,
    private readonly incidents: Incidents,
    private readonly actions: ActionsService,
    private readonly attempts: DeliveryAttempts,
    private readonly endings: DeliveryEndings,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.define<unknown, Attempt | undefined>({
      name: NOTIFICATION,
      hasLanes: true,
      places: PLACES_PER_CHANNEL,
      mostAttempts: Infinity,
      one: (claim) => this.deliver(claim),
      write: async (tx, ended) => {
        const attempts = ended.flatMap(({ result }) => result ?? []);
        await this.endings.write(tx, attempts);
      },
    });
    this.work.every('clean-up-notifications', CLEAN_UP_SECONDS, () => this.cleanUp());
    this.work.every('tell-of-failing-channels', UNHEALTHY_CHECK_SECONDS, () =>
      this.endings.reportUnhealthy(),
    );
  }

  /** Ends deliveries that could not be attempted for a day, and removes ended ones 30 days after their event. */
  async cleanUp(): Promise<void> {
    const before = firstIdAt(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    while ((await this.endings.expire(CLEAN_UP_SIZE)) === CLEAN_UP_SIZE);
    while ((await this.deliveries.prune(before, CLEAN_UP_SIZE)) === CLEAN_UP_SIZE);
  }

  private async deliver(
    claim: Claimed,
  ): Promise<Attempt | AgainOutcome<Attempt | undefined> | undefined> {
    const prepared = await this.prepared.submit(claim);
    if (prepared === 'ended') return undefined;
    if ('heldMs' in prepared) {
      return new AgainOutcome({ inMs: prepared.heldMs, countsAsAttempt: false });
    }
    const { channel, folded } = prepared;
    const { id, type, incident_id } = folded.delivery;
    const outcome = await traced(
      () => ({
        name: `notification ${channel.type}`,
        kind: 'internal',
        attributes: {
          'delivery.id': id,
          'event.type': type,
          'incident.id': incident_id ?? undefined,
        },
      }),
      async (span) => {
        const reached = await this.attempts.deliver(prepared, claim.signal);
        span?.note({ 'delivery.outcome': reached.kind });
        return reached;
      },
    );
    if (outcome.kind === 'delivered') return { channel, folded, outcome };
    const ending: Ending =
      outcome.kind === 'refused' && !outcome.isPartly && folded.carried.length > 0
        ? { kind: 'unfolded', error: outcome.why }
        : endingOf(outcome, folded.delivery, Math.random());
    const attempt = { channel, folded, outcome, ending };
    if (ending.kind === 'dead') return attempt;
    const inMs = ending.kind === 'again' ? ending.waitMs : 0;
    return new AgainOutcome({ inMs, why: ending.error }, attempt);
  }

  private async prepare(tx: Tx, claims: readonly Claimed[]): Promise<Prepared[]> {
    const folded = await this.claims.messages(tx, claims);
    const ready = [...folded.values()].filter((one) => 'delivery' in one);
    const channelIds = ready.map(({ delivery }) => delivery.channel_id);
    const channels = await this.channels.byIds(tx, channelIds);
    const present = await this.present(tx, ready, channels);
    return claims.map(({ ref }) => {
      const one = folded.get(ref);
      return (one && 'heldMs' in one ? one : present.get(ref)) ?? 'ended';
    });
  }

  /**
   * Adds the current state, because a message may have waited for its wave or for its channel. Ends messages to people that
   * have become pointless.
   */
  private async present(
    tx: Tx,
    folded: readonly FoldedDelivery[],
    channels: ReadonlyMap<string, NotificationChannelEntity>,
  ): Promise<ReadonlyMap<string, PresentDelivery>> {
    const all = folded.flatMap(({ delivery, carried }) => [delivery, ...carried]);
    const incidentIds = all.flatMap(({ incident_id }) => incident_id ?? []);
    const incidents = await this.incidents.statesOf(tx, incidentIds);
    const waves = await this.wavesOf(tx, folded, channels);
    const requested = all.filter(requestsApproval).map(({ subject_id }) => subject_id);
    const members = [...waves.values()].flatMap(({ first, carried }) => [first, ...carried]);
    const actionIds = [...new Set([...requested, ...members])];
    const waiting =
      actionIds.length > 0
        ? await this.actions.waitingAmong(tx, actionIds)
        : new Map<string, never>();
    const present = new Map<string, PresentDelivery>();
    const decided: string[] = [];
    const inReopening: string[] = [];
    for (const one of folded) {
      const { delivery, carried } = one;
      const channel = channels.get(delivery.channel_id);
      if (!channel) continue;
      const members = [delivery, ...carried];
      const ids = members.map(({ id }) => id);
      const isForPeople = channel.type !== 'webhook';
      const isDecided =
        requestsApproval(delivery) && !members.some(({ subject_id }) => waiting.has(subject_id));
      if (isForPeople && isInReopening(delivery, channel)) inReopening.push(...ids);
      else if (isForPeople && isDecided) decided.push(...ids);
      else {
        const state = { incidents, waiting, wave: waves.get(delivery.id) };
        present.set(delivery.id, { folded: one, channel, present: state });
      }
    }
    await this.claims.drop(tx, decided, DECIDED);
    await this.claims.drop(tx, inReopening, IN_REOPENING);
    return present;
  }

  /** PagerDuty has one alert for all approvals of a message. */
  private async wavesOf(
    tx: Tx,
    folded: readonly FoldedDelivery[],
    channels: ReadonlyMap<string, NotificationChannelEntity>,
  ) {
    const ids = folded.flatMap(({ delivery: { id, type, channel_id } }) =>
      channels.get(channel_id)?.type === 'pagerduty' && MAY_END_A_WAVE.includes(type) ? [id] : [],
    );
    return ids.length > 0 ? await this.claims.wavesOf(tx, ids) : new Map<string, never>();
  }
}

const requestsApproval = ({ type }: Delivery): boolean => REQUESTS_APPROVAL.includes(type);

/** One report can reopen an incident and raise its severity. People get one message about both. */
function isInReopening(
  { type, payload }: Delivery,
  { events }: NotificationChannelEntity,
): boolean {
  return (
    type === 'incident.severity_changed' &&
    'reopened' in payload &&
    payload.reopened === true &&
    events.includes('incident.reopened')
  );
}
