import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ActionTypeName } from '../action-catalogue/action-types.js';
import { Transactions } from '../platform/database/transactions.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import { ACTION_EVENTS } from './action-records.js';
import { actionIdOf } from './action.js';
import { ActionsRepository } from './actions.repository.js';
import { ConnectorCalls } from './execution/connector-calls.js';

/** Action types with a preview at one connector or more. */
const PREVIEWED: readonly ActionTypeName[] = ['quarantine_email', 'delete_email'];

/**
 * Asks the connector for a preview of an action that waits for approval, so that the approver sees the effect. Requests
 * the preview after the transaction commits, because a transaction must not wait for a vendor. The kill switch also
 * stops previews.
 */
@Injectable()
export class ActionPreviews implements OnModuleInit {
  constructor(
    private readonly events: DomainEvents,
    private readonly actions: ActionsRepository,
    private readonly calls: ConnectorCalls,
    private readonly transactions: Transactions,
  ) {}

  onModuleInit(): void {
    const where = PREVIEWED.map((type) => `$.action_type == "${type}"`).join(' || ');
    const news = { types: [ACTION_EVENTS.pendingApproval], where };
    this.events.on(news, 'action-previews', ({ subject }) => this.look(actionIdOf(subject.id)));
  }

  private async look(id: string): Promise<void> {
    const action = await this.actions.findById(id);
    if (action?.status !== 'pending_approval' || action.preview) return;
    const connector = await this.calls.connectorOf(action);
    const preview = connector && (await this.calls.preview(connector, action));
    if (preview) await this.transactions.run((tx) => this.actions.keepPreview(tx, id, preview));
  }
}
