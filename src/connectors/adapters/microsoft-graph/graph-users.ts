import type { Gate } from '../../../platform/net/gate.js';
import { booleanAt, textAt, valueAt } from '../../calls/answer-shape.js';
import { RefusedError } from '../../calls/refused.error.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import type { ActionCall, Outcome } from '../../connector.port.js';

interface GraphUser {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
}

const USERS = ['v1.0', 'users'];

/**
 * Accounts of a directory.
 * https://learn.microsoft.com/en-us/graph/api/user-update and user-get, user-revokesigninsessions beside it
 */
export class GraphUsers {
  constructor(private readonly api: VendorApi) {}

  /** An account that is as it shall be is left alone, which the result tells: a rollback leaves it alone, too. */
  async setEnabled(call: ActionCall, gate: Gate, enabled: boolean): Promise<Outcome> {
    if (call.undoes?.['changed'] === false) {
      return { kind: 'done', message: 'Nothing to undo: the account was not changed.' };
    }
    const user = await this.find(call, gate);
    // An earlier attempt may have changed it, of which nobody knows.
    if (user.enabled === enabled) {
      return doneWith(user, enabled, call.attempt === 1 ? false : undefined);
    }
    const path = [...USERS, user.id];
    const body = { accountEnabled: enabled };
    await this.api.change(gate, { method: 'PATCH', path, body, idempotent: true }, () => undefined);
    return doneWith(user, enabled, true);
  }

  async revokeSessions(call: ActionCall, gate: Gate): Promise<Outcome> {
    const path = [...USERS, nameIn(call), 'revokeSignInSessions'];
    await this.api.change(gate, { method: 'POST', path, idempotent: true }, (json) => {
      // The status is documented in more than one way, and is not always 200. Only a clear no is one.
      if (valueAt(json, 'value') !== false) return;
      throw new RefusedError('Microsoft Graph says that the sessions were not revoked.');
    });
    const message = 'The sessions are revoked; it may take some minutes until all have ended.';
    return { kind: 'done', message };
  }

  async probeEnabled(call: ActionCall, enabled: boolean): Promise<Outcome | 'unknown'> {
    const user = await this.find(call, undefined);
    return user.enabled === enabled ? doneWith(user, enabled) : 'unknown';
  }

  private async find(call: ActionCall, gate: Gate | undefined): Promise<GraphUser> {
    const path = [...USERS, nameIn(call)];
    const query = { $select: 'id,userPrincipalName,accountEnabled' };
    return await this.api.ask(gate, { method: 'GET', path, query }, (json) => ({
      id: textAt(json, 'id'),
      name: textAt(json, 'userPrincipalName'),
      enabled: booleanAt(json, 'accountEnabled'),
    }));
  }
}

function nameIn({ parameters }: ActionCall): string {
  return String(parameters['user']).trim();
}

/** @param changed left out when nobody knows whether it was this action that changed it */
function doneWith({ id, name }: GraphUser, enabled: boolean, changed?: boolean): Outcome {
  const state = enabled ? 'enabled' : 'disabled';
  const message = `The account ${name} ${changed === false ? 'was' : 'is'} ${state}${changed === false ? ' already' : ''}.`;
  const data = { user_id: id, user: name, ...(changed !== undefined && { changed }) };
  return { kind: 'done', message, data };
}
