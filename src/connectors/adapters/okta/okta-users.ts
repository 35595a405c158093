import type { Gate } from '../../../platform/net/gate.js';
import { nothing, textAt } from '../../calls/answer-shape.js';
import { RefusedError } from '../../calls/refused.error.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import type { ActionCall } from '../../connector.port.js';
import { type Account, type Accounts, userIn } from '../accounts.js';
import { judgeTarget } from '../found-target.js';

interface OktaUser {
  readonly id: string;
  readonly login: string;
  readonly status: string;
}

const USERS = ['api', 'v1', 'users'];
/** Okta's name for whoever owns the token. */
const OWNER = 'me';
/** A user whose password was reset, and who has not chosen a new one yet. */
const RECOVERY = 'RECOVERY';

/**
 * The users of an Okta organisation: one is suspended and not deactivated, because that keeps its groups and applications.
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/UserLifecycle/
 */
export class OktaUsers implements Accounts {
  constructor(private readonly api: VendorApi) {}

  async find(user: string, gate: Gate | undefined): Promise<Account> {
    const { id, login, status } = await this.read(user, gate);
    return { id, name: login, enabled: isEnabled(status) };
  }

  /** Okta refuses to suspend twice, so that a repetition is not answered alike. */
  async setEnabled({ id }: Account, enabled: boolean, gate: Gate): Promise<void> {
    const path = [...USERS, id, 'lifecycle', enabled ? 'unsuspend' : 'suspend'];
    await this.api.change(gate, { method: 'POST', path, idempotent: false }, nothing);
  }

  /** Answers whose sessions they were. */
  async revokeSessions(call: ActionCall, gate: Gate): Promise<string> {
    const { id, login } = await this.target(call, gate);
    const request = {
      method: 'DELETE',
      path: [...USERS, id, 'sessions'],
      query: { oauthTokens: 'true' },
      idempotent: true,
    } as const;
    await this.api.change(gate, request, nothing);
    return login;
  }

  /** Okta mails the link. The service must not get it: whoever can read the action could use it. */
  async resetPassword(call: ActionCall, gate: Gate): Promise<string> {
    const { id, login } = await this.target(call, gate);
    const request = {
      method: 'POST',
      path: [...USERS, id, 'lifecycle', 'reset_password'],
      query: { sendEmail: 'true' },
      // The user would get two mails.
      idempotent: false,
    } as const;
    await this.api.change(gate, request, nothing);
    return login;
  }

  /** The user's login, when a new password is awaited. */
  async awaitsPassword(user: string): Promise<string | undefined> {
    const { login, status } = await this.read(user, undefined);
    return status === RECOVERY ? login : undefined;
  }

  /** For a test: the owner of the token. */
  async owner(timeoutMs: number): Promise<string> {
    const request = { method: 'GET', path: [...USERS, OWNER], timeoutMs } as const;
    return (await this.api.ask(undefined, request, userOf)).login;
  }

  private async target(call: ActionCall, gate: Gate): Promise<OktaUser> {
    const user = await this.read(userIn(call), gate);
    judgeTarget(call, user.login);
    return user;
  }

  /** Okta finds a user by id, by login, and by the part of the login before the @. Nobody else may be meant by mistake. */
  private async read(user: string, gate: Gate | undefined): Promise<OktaUser> {
    if (user.toLowerCase() === OWNER) throw new RefusedError(`${user} is no name of a user.`);
    const found = await this.api.ask(gate, { method: 'GET', path: [...USERS, user] }, userOf);
    const wanted = user.toLowerCase();
    const login = found.login.toLowerCase();
    if (found.id === user || login === wanted || login.startsWith(`${wanted}@`)) return found;
    throw new RefusedError('Okta answered with another user than the one that was asked for.');
  }
}

function userOf(json: unknown): OktaUser {
  return {
    id: textAt(json, 'id'),
    login: textAt(json, 'profile', 'login'),
    status: textAt(json, 'status'),
  };
}

/** The other statuses are of users who have not signed up yet, or cannot sign in until they have done something. */
function isEnabled(status: string): boolean | undefined {
  if (status === 'ACTIVE') return true;
  return status === 'SUSPENDED' || status === 'DEPROVISIONED' ? false : undefined;
}
