import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ActionTypeName } from '../action-catalogue/action-types.js';
import { isKillSwitchActive, KillSwitch, PermitGate } from '../kill-switch/kill-switch.js';
import { Transactions } from '../platform/database/transactions.js';
import { type DomainEvent, DomainEvents } from '../platform/work/domain-events.js';
import { OutcomeUnknownError, UnreachableError } from '../platform/net/net.errors.js';
import type { Connector } from '../connectors/connector-type.js';
import {
  type Action,
  actionIdOf,
  type ActionPreview,
  reportedSender,
  shownActionId,
} from './action.js';
import { ActionConnectors } from './execution/connector-calls.js';
import { RequiredLevels } from './required-levels.js';
import { ACTION_EVENTS } from './action-records.js';
import { ActionsRepository } from './actions.repository.js';

/** The types that any connector has a preview for. */
const PREVIEWED: readonly string[] = [
  'quarantine_email',
  'delete_email',
] satisfies ActionTypeName[];

const TIMEOUT_MS = 15_000;

/**
 * Asks the connector what an action would touch when the action begins to wait for approval, so that the approver sees it.
 * This happens after the request, because no transaction may wait for a vendor. The kill switch stops these look-ups as it
 * stops actions.
 */
@Injectable()
export class ActionPreviews implements OnModuleInit {
  constructor(
    private readonly events: DomainEvents,
    private readonly actions: ActionsRepository,
    private readonly connectors: ActionConnectors,
    private readonly levels: RequiredLevels,
    private readonly killSwitch: KillSwitch,
    private readonly transactions: Transactions,
  ) {}

  onModuleInit(): void {
    const where = PREVIEWED.map((type) => `$.action_type == "${type}"`).join(' || ');
    this.events.on({ types: [ACTION_EVENTS.pendingApproval], where }, 'action-previews', (event) =>
      this.look(event),
    );
  }

  private async look({ subject }: DomainEvent): Promise<void> {
    const action = await this.actions.findById(actionIdOf(subject.id));
    if (action?.status !== 'pending_approval' || action.preview) return;
    const connector = await this.connectors.of(action);
    const preview = connector && (await this.preview(connector, action));
    if (!preview) return;
    await this.transactions.run((tx) => this.actions.keepPreview(tx, action.id, preview));
  }

  private async preview(connector: Connector, action: Action): Promise<ActionPreview | undefined> {
    const { id, action_type, parameters } = action;
    const gate = new PermitGate(this.killSwitch, undefined, AbortSignal.timeout(TIMEOUT_MS));
    try {
      return await connector.preview(
        {
          actionId: shownActionId(id),
          attempt: 1,
          type: action_type,
          parameters,
          mayTarget: (name) => this.levels.mayTarget(action, name),
          sender: reportedSender(action),
        },
        gate,
      );
    } catch (error) {
      const message = reasonIn(error);
      if (message === undefined) throw error;
      return { message: `What the action would change is not known: ${message}` };
    }
  }
}

/** Undefined if the error says nothing about the vendor. */
function reasonIn(error: unknown): string | undefined {
  if (isKillSwitchActive(error)) return 'the kill switch was on.';
  const isOfVendor = error instanceof UnreachableError || error instanceof OutcomeUnknownError;
  if (isOfVendor) return error.message;
  return error instanceof DOMException && error.name === 'TimeoutError'
    ? `the vendor did not answer within ${TIMEOUT_MS / 1_000} s.`
    : undefined;
}
