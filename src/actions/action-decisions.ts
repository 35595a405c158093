import { Injectable, type OnModuleInit } from '@nestjs/common';
import { In } from 'typeorm';
import { Settings } from '../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { LockedIncident } from '../incidents/incident.js';
import { IncidentEndings } from '../incidents/incidents.service.js';
import { Incidents } from '../incidents/incidents.js';
import { type Action, askersOf, SYSTEM } from './action.js';
import { ActionsRepository, WAITING, type Withdrawal } from './actions.repository.js';
import { ActionEndings } from './execution/action-endings.js';
import { ActionWork, claimPermitLate } from './execution/action-work.js';
import type { Caller } from '../platform/http/caller.js';
import { KillSwitch, type Permit } from '../kill-switch/kill-switch.js';
import type { Connector } from '../connectors/connector-type.js';
import { noConnector, resultOfLoss, simulatedResult } from './execution/execution-rules.js';
import { SamePerson } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';

export interface LockedAction {
  readonly action: Action;
  /** Absent for direct actions, and if the incident was deleted. */
  readonly incident?: LockedIncident;
}

/**
 * Runs the action of a decision. Ends actions that have not begun: when held actions are discarded, when an incident is deleted or
 * closed with `pending: withdraw`, and when a playbook run is cancelled.
 */
@Injectable()
export class ActionDecisions implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly killSwitch: KillSwitch,
    private readonly incidentEndings: IncidentEndings,
    private readonly incidents: Incidents,
    private readonly actions: ActionsRepository,
    private readonly endings: ActionEndings,
    private readonly work: ActionWork,
    private readonly persons: SamePerson,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    this.killSwitch.register('actions', {
      inFlight: async () => (await this.actions.countWork()).in_flight,
      count: async () => (await this.actions.countWork()).held,
      discard: (tx, caller) => this.discard(tx, caller),
    });
    this.incidentEndings.register({
      pending: 'actions',
      count: (tx, incidentId) => this.actions.countWaitingOf(tx, incidentId),
      end: async (tx, incident_id, by, reason) => {
        const waiting = await this.endings.reject(tx, { incident_id, ...WAITING }, by, reason);
        return waiting.length + (await this.withdrawAll(tx, { incident_id }, by, reason));
      },
    });
  }

  /**
   * Decides on an action in a transaction, and runs the action if it may run. An action whose connector only simulates ends in
   * that transaction. `decide` calls `requirePermit` after its other checks, because their errors come before
   * `kill_switch_active`.
   */
  async decideAndRun(
    caller: Principal,
    connector: Connector | undefined,
    idempotency: Participant<Action>,
    decide: (tx: Tx, requirePermit: () => void) => Promise<Action>,
  ): Promise<Action> {
    let ended: Promise<Action> | undefined;
    const action = await this.transactions.run<Action>(
      async (tx) => {
        const claimedPermit = await claimPermitLate(this.killSwitch, tx);
        let permit: Permit | undefined;
        const decided = await decide(tx, () => void (permit = claimedPermit()));
        if (decided.status !== 'pending') return decided;
        const result = connector
          ? simulatedResult(connector, decided.action_type)
          : noConnector(decided);
        const connectorId = connector?.identity.id;
        if (result) {
          return (await this.endings.endAll(tx, [{ action: decided, result, connectorId }]))[0]!;
        }
        const started = { action: decided, connector: connector! };
        ended = (await this.work.begin(tx, [started], permit!)).get(decided.id);
        return decided;
      },
      caller,
      idempotency,
    );
    return await this.work.wait(action, ended);
  }

  /** Whether four eyes are required and the caller is a requester of the action. */
  async isOwnRequest(tx: Tx, caller: Principal, action: Action): Promise<boolean> {
    return (
      this.settings.approvalFourEyes && (await this.persons.isAmong(tx, caller, askersOf(action)))
    );
  }

  /** Returns the action before the transaction that locks it, whose connector has to be known. Throws NotFoundError. */
  async find(id: string): Promise<Action> {
    const action = await this.actions.findById(id);
    if (!action) throw new NotFoundError('Action');
    return action;
  }

  /**
   * Locks the incident and then the action until the transaction ends. A deletion locks them in the same order, so that the
   * two never wait for each other. Throws NotFoundError.
   */
  async lock(tx: Tx, { id, incident_id }: Action): Promise<LockedAction> {
    const incident = incident_id ? await this.incidents.lockForShare(tx, incident_id) : undefined;
    const action = await this.actions.lockById(tx, id);
    if (!action) throw new NotFoundError('Action');
    return { action, incident };
  }

  /** `undefined` if the action no longer waits for approval. */
  async reject(tx: Tx, id: string, by: string, reason: string): Promise<Action | undefined> {
    return (await this.endings.reject(tx, { id, ...WAITING }, by, reason))[0];
  }

  /** Rejects the action if it has not begun. Does nothing if it has begun or waits for approval. */
  async withdraw(tx: Tx, id: string, by: string, reason: string): Promise<void> {
    await this.withdrawAll(tx, { id }, by, reason);
  }

  private async discard(tx: Tx, caller: Caller): Promise<number> {
    const message = `Discarded by ${caller.name}, who turned the kill switch off.`;
    return await this.withdrawAll(tx, { sent: true }, SYSTEM, message);
  }

  /** Rejects actions that have not begun, and fails those whose call may have been sent. Returns their number. */
  private async withdrawAll(
    tx: Tx,
    which: Withdrawal,
    by: string,
    message: string,
  ): Promise<number> {
    const withdrawn = await this.actions.withdraw(tx, which);
    const idsOf = (isSent: boolean) =>
      withdrawn.flatMap(({ id, sent }) => (sent === isSent ? [id] : []));
    const unsent = idsOf(false);
    if (unsent.length > 0) await this.endings.reject(tx, { id: In(unsent) }, by, message);
    const sent = idsOf(true);
    if (sent.length > 0) {
      const result = resultOfLoss({ kind: 'stopped', message, sent: true, idempotent: false });
      const actions = await this.actions.lockAll(tx, sent);
      await this.endings.endAll(
        tx,
        actions.map((action) => ({ action, result, by: SYSTEM })),
      );
    }
    return withdrawn.length;
  }
}
