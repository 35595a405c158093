import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { Clock } from '../../platform/clock.js';
import { firstIdAt } from '../../platform/ids.js';
import { traced } from '../../platform/tracing/tracing.js';
import { AgainOutcome, type Claimed } from '../../platform/work/kind.js';
import { Work } from '../../platform/work/work.js';
import type { FoldedDelivery } from '../delivery.js';
import { DeliveriesRepository } from '../records/deliveries.repository.js';
import { NOTIFICATION } from '../records/delivery-rows.js';
import { NotificationChannelsRepository } from '../records/notification-channels.repository.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DeliveryFolds, type Loaded } from './delivery-folds.js';
import { type Attempt, DeliveryEndings } from './delivery-endings.js';
import { type Ending, endingOf } from './delivery-rules.js';
import { type PresentDelivery, PresentStates } from './present-states.js';

/** As many as a lane may have (keep_lane_of_channel). */
const PLACES_PER_CHANNEL = 32;
const CLEAN_UP_SECONDS = 600;
const TELL_SECONDS = 30;
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const AT_ONCE = 5_000;

type Prepared = PresentDelivery | Exclude<Loaded, FoldedDelivery>;

/** Delivers. No connection of the database is held while a receiver is waited for. */
@Injectable()
export class DeliveryWork implements OnModuleInit {
  private readonly prepared: Batcher<Claimed, Prepared>;

  constructor(
    private readonly transactions: Transactions,
    private readonly deliveries: DeliveriesRepository,
    private readonly channels: NotificationChannelsRepository,
    private readonly folds: DeliveryFolds,
    private readonly states: PresentStates,
    private readonly attempts: DeliveryAttempts,
    private readonly endings: DeliveryEndings,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {
    const prepare = (claims: readonly Claimed[]) =>
      this.transactions.run((tx) => this.prepare(tx, claims));
    this.prepared = new Batcher(prepare, 100, 1);
  }

  onModuleInit(): void {
    this.work.define<unknown, Attempt | undefined>({
      name: NOTIFICATION,
      hasLanes: true,
      places: PLACES_PER_CHANNEL,
      mostAttempts: Infinity,
      one: (claim) => this.deliver(claim),
      write: (tx, ended) =>
        this.endings.write(
          tx,
          ended.flatMap(({ result }) => result ?? []),
        ),
    });
    this.work.every('clean-up-notifications', CLEAN_UP_SECONDS, () => this.cleanUp());
    const tell = () => this.endings.tellOfLongFailures();
    this.work.every('tell-of-failing-channels', TELL_SECONDS, tell);
  }

  /** Gives up what nobody can deliver any more, and removes what has ended and whose event is 30 days old. */
  async cleanUp(): Promise<void> {
    const before = firstIdAt(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    while ((await this.endings.expire(AT_ONCE)) === AT_ONCE);
    while ((await this.deliveries.prune(before, AT_ONCE)) === AT_ONCE);
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
    const { id, type, incidentId } = folded.delivery;
    const outcome = await traced(
      () => ({
        name: `notification ${channel.type}`,
        kind: 'internal',
        attributes: { 'delivery.id': id, 'event.type': type, 'incident.id': incidentId },
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

  /** From the commit on, no replica sends what a message has in it on its own. */
  private async prepare(tx: Tx, claims: readonly Claimed[]): Promise<Prepared[]> {
    const loaded = await this.folds.load(tx, claims);
    const folded = [...loaded.values()].filter(
      (one) => typeof one === 'object' && 'delivery' in one,
    );
    const channels = await this.channels.byIds(
      tx,
      folded.map(({ delivery }) => delivery.channelId),
    );
    const present = await this.states.look(tx, folded, channels);
    const sent = new Map(present.map((one) => [one.folded.delivery.id, one]));
    return claims.map(({ ref }) => {
      const one = loaded.get(ref)!;
      return one === 'ended' || 'heldMs' in one ? one : (sent.get(ref) ?? 'ended');
    });
  }
}
