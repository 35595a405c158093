import type { Gate } from '../../../platform/net/gate.js';
import { booleanAt, nothing, textAt, valueAt } from '../../calls/answer-shape.js';
import { RefusedError } from '../../calls/refused.error.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import type { ActionCall, Outcome } from '../../connector.port.js';
import { type Account, type Accounts, userIn } from '../accounts.js';
import { judgeTarget } from '../found-target.js';

const USERS = ['v1.0', 'users'];

/**
 * Accounts of Microsoft Entra ID.
 * https://learn.microsoft.com/en-us/graph/api/user-update and user-get, user-revokesigninsessions beside it
 */
export class GraphUsers implements Accounts {
  constructor(private readonly api: VendorApi) {}

  async find(user: string, gate: Gate | undefined): Promise<Account> {
    const path = [...USERS, user];
    const query = { $select: 'id,userPrincipalName,accountEnabled' };
    return await this.api.ask(gate, { method: 'GET', path, query }, (json) => ({
      id: textAt(json, 'id'),
      name: textAt(json, 'userPrincipalName'),
      enabled: booleanAt(json, 'accountEnabled'),
    }));
  }

  async setEnabled({ id }: Account, enabled: boolean, gate: Gate): Promise<void> {
    const path = [...USERS, id];
    const body = { accountEnabled: enabled };
    await this.api.change(gate, { method: 'PATCH', path, body, idempotent: true }, nothing);
  }

  /** By its principal name the policy has judged the user already. To look it up needs a permission more. */
  async revokeSessions(call: ActionCall, gate: Gate): Promise<Outcome> {
    const user = userIn(call);
    if (!user.includes('@')) judgeTarget(call, (await this.find(user, gate)).name);
    const path = [...USERS, user, 'revokeSignInSessions'];
    await this.api.change(gate, { method: 'POST', path, idempotent: true }, (json) => {
      // The status is documented in more than one way, and is not always 200. Only a clear no is one.
      if (valueAt(json, 'value') !== false) return;
      throw new RefusedError('Microsoft Graph says that the sessions were not revoked.');
    });
    const message = 'The sessions are revoked; it may take some minutes until all have ended.';
    return { kind: 'done', message };
  }
}
