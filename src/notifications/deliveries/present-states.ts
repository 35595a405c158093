import { Injectable } from '@nestjs/common';
import { ActionsService } from '../../actions/actions.service.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Delivery, FoldedDelivery, PresentState } from '../delivery.js';
import type { SealedChannel } from '../notification-channel.js';
import { DeliveriesRepository } from '../records/deliveries.repository.js';

const ASKS_FOR_APPROVAL = ['action.pending_approval', 'action.expiring'];
const MAY_END_A_WAVE = ['action.expiring', 'action.completed', 'action.failed', 'action.rejected'];
const DECIDED = 'Not sent: all approvals that it asks for were decided before.';
const TOLD_BY_REOPENING = 'Not sent: the message about the reopening tells the severity.';

export interface PresentDelivery {
  readonly folded: FoldedDelivery;
  readonly channel: SealedChannel;
  readonly present: PresentState;
}

/** Compares what messages are about to say with the current state: a message may have waited for its wave or for its channel. */
@Injectable()
export class PresentStates {
  constructor(
    private readonly incidents: IncidentsService,
    private readonly actions: ActionsService,
    private readonly deliveries: DeliveriesRepository,
  ) {}

  /** In the transaction of the claim. Ends the messages to people that ask for approvals of which none is needed any more. */
  async look(
    tx: Tx,
    folded: readonly FoldedDelivery[],
    channels: ReadonlyMap<string, SealedChannel>,
  ): Promise<PresentDelivery[]> {
    const all = folded.flatMap(({ delivery, carried }) => [delivery, ...carried]);
    const ids = all.flatMap(({ incidentId }) => (incidentId ? [incidentId] : []));
    const incidents = await this.incidents.statesOf(tx, ids);
    const waves = await this.wavesOf(tx, folded, channels);
    const asked = all.filter(isAboutApproval).map(({ subject }) => subject.id);
    const members = [...waves.values()].flatMap(({ first, carried }) => [first, ...carried]);
    const wanted = [...new Set([...asked, ...members])];
    const waiting =
      wanted.length > 0 ? await this.actions.waitingAmong(tx, wanted) : new Map<string, never>();
    const sent: PresentDelivery[] = [];
    const dropped: string[] = [];
    const told: string[] = [];
    for (const one of folded) {
      const { delivery, carried } = one;
      const channel = channels.get(delivery.channelId);
      if (!channel) continue;
      const isNeeded = [delivery, ...carried].some(({ subject }) => waiting.has(subject.id));
      if (isToldByReopening(delivery, channel)) {
        told.push(delivery.id, ...carried.map(({ id }) => id));
      } else if (channel.type !== 'webhook' && isAboutApproval(delivery) && !isNeeded) {
        dropped.push(delivery.id, ...carried.map(({ id }) => id));
      } else {
        const wave = waves.get(delivery.id);
        sent.push({ folded: one, channel, present: { incidents, waiting, wave } });
      }
    }
    await this.deliveries.drop(tx, dropped, DECIDED);
    await this.deliveries.drop(tx, told, TOLD_BY_REOPENING);
    return sent;
  }

  /** PagerDuty has one alert for all approvals of a message. */
  private async wavesOf(
    tx: Tx,
    folded: readonly FoldedDelivery[],
    channels: ReadonlyMap<string, SealedChannel>,
  ) {
    const ids = folded.flatMap(({ delivery: { id, type, channelId } }) =>
      channels.get(channelId)?.type === 'pagerduty' && MAY_END_A_WAVE.includes(type) ? [id] : [],
    );
    return ids.length > 0 ? await this.deliveries.wavesOf(tx, ids) : new Map<string, never>();
  }
}

/** One report can reopen an incident and raise its severity. People get one message about both. */
function isToldByReopening(
  { type, payload }: Delivery,
  { type: to, events }: SealedChannel,
): boolean {
  return (
    type === 'incident.severity_changed' &&
    payload['reopened'] === true &&
    to !== 'webhook' &&
    events.includes('incident.reopened')
  );
}

function isAboutApproval({ type }: Delivery): boolean {
  return ASKS_FOR_APPROVAL.includes(type);
}
