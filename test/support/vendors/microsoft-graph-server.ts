import type { IncomingMessage } from 'node:http';
import { ClientCredentials } from './client-credentials.js';
import {
  objectOf,
  type Reply,
  type Route,
  type VendorCall,
  VendorServer,
} from './vendor-server.js';

export interface StoredMail {
  id: string;
  readonly mailbox: string;
  readonly messageId: string;
  readonly from: string;
  folder: string;
}

export interface StoredUser {
  readonly id: string;
  readonly userPrincipalName: string;
  accountEnabled: boolean;
  sessionsRevoked: number;
}

const TENANT = 'contoso.example';
const FOLDERS: Readonly<Record<string, string>> = {
  inbox: 'folder-inbox',
  junkemail: 'folder-junk',
  archive: 'folder-archive',
};

/**
 * Microsoft Graph v1.0, written from its reference:
 * https://learn.microsoft.com/en-us/graph/api/user-list-messages
 * https://learn.microsoft.com/en-us/graph/api/mailfolder-get
 * https://learn.microsoft.com/en-us/graph/api/message-move (201; the copy has a new id)
 * https://learn.microsoft.com/en-us/graph/api/message-permanentdelete (204)
 * https://learn.microsoft.com/en-us/graph/api/user-get, user-list, user-update (204)
 * https://learn.microsoft.com/en-us/graph/api/user-revokesigninsessions (200 with `value`)
 * https://learn.microsoft.com/en-us/graph/errors
 * and the login service from
 * https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export class MicrosoftGraphServer extends VendorServer {
  readonly mails: StoredMail[] = [];
  readonly users: StoredUser[] = [];
  /** Undefined until the server listens, because the scope contains the server's address. */
  private desk: ClientCredentials | undefined;
  private moves = 0;

  get config() {
    return {
      base_url: this.url,
      login_url: this.url,
      tenant_id: TENANT,
      client_id: '00000000-0000-0000-0000-00000000c11e',
      client_secret: 'graph-secret-that-nobody-sees',
    };
  }

  get tokens(): ClientCredentials {
    const { client_id, client_secret } = this.config;
    this.desk ??= new ClientCredentials({
      client_id,
      client_secret,
      scope: `${this.url}/.default`,
      grant_type: 'client_credentials',
    });
    return this.desk;
  }

  mail(
    messageId: string,
    folder: keyof typeof FOLDERS = 'inbox',
    mailbox = 'ada@example.com',
    from = 'Mallory@example.net',
  ) {
    const id = `AAMk${this.mails.length}==`;
    const mail = { id, mailbox, messageId, from, folder: FOLDERS[folder]! };
    this.mails.push(mail);
    return mail;
  }

  user(userPrincipalName: string, accountEnabled = true): StoredUser {
    const id = `user-${this.users.length}`;
    const user = { id, userPrincipalName, accountEnabled, sessionsRevoked: 0 };
    this.users.push(user);
    return user;
  }

  override forget(): void {
    super.forget();
    this.mails.length = 0;
    this.users.length = 0;
  }

  protected override isLetIn(headers: IncomingMessage['headers']): boolean {
    return this.tokens.isGood(headers);
  }

  protected errorOf(status: number, message: string): unknown {
    const code = status === 401 ? 'InvalidAuthenticationToken' : `Error${status}`;
    return { error: { code, message, innerError: { 'request-id': 'r-1' } } };
  }

  protected get routes(): readonly Route[] {
    const select = { $select: 'id,userPrincipalName,accountEnabled' };
    return [
      this.tokens.route(`/${TENANT}/oauth2/v2.0/token`),
      {
        on: 'GET /v1.0/users',
        query: { $select: 'id', $top: '1' },
        answer: () => ({ status: 200, body: { value: [{ id: 'user-0' }] } }),
      },
      {
        on: 'GET /v1.0/users/{user}',
        query: select,
        answer: (call) => this.onUser(call, shown),
      },
      {
        on: 'PATCH /v1.0/users/{user}',
        body: objectOf({ accountEnabled: { type: 'boolean' } }),
        answer: (call) => this.onUser(call, (user) => enable(user, call)),
      },
      {
        on: 'POST /v1.0/users/{user}/revokeSignInSessions',
        answer: (call) => this.onUser(call, revoke),
      },
      {
        on: 'GET /v1.0/users/{mailbox}/mailFolders/{name}',
        query: { $select: 'id' },
        answer: ({ path }) =>
          Object.hasOwn(FOLDERS, path['name']!)
            ? { status: 200, body: { id: FOLDERS[path['name']!] } }
            : this.error(404, 'The specified folder could not be found in the store.'),
      },
      {
        on: 'GET /v1.0/users/{mailbox}/messages',
        query: {
          $filter: /^internetMessageId eq '<([^']|'')*>'$/,
          $select: 'id,internetMessageId,parentFolderId,from,sender',
          $top: '20',
        },
        answer: (call) => this.list(call),
      },
      {
        on: 'POST /v1.0/users/{mailbox}/messages/{id}/move',
        body: objectOf({ destinationId: { type: 'string', minLength: 1 } }),
        answer: (call) => this.onMail(call, (mail) => this.move(mail, call)),
      },
      {
        on: 'POST /v1.0/users/{mailbox}/messages/{id}/permanentDelete',
        answer: (call) => this.onMail(call, (mail) => this.remove(mail)),
      },
    ];
  }

  private list({ path, query }: VendorCall): Reply {
    const [, literal = ''] = /^internetMessageId eq '(.*)'$/s.exec(query['$filter']!)!;
    // Exchange compares texts case-insensitively.
    const wanted = literal.replaceAll("''", "'").toLowerCase();
    const value = this.mails
      .filter(({ mailbox }) => mailbox === path['mailbox'])
      .filter(({ messageId }) => messageId.toLowerCase() === wanted)
      .map(({ id, messageId, folder, from }) => ({
        '@odata.etag': 'W/"CQAAAB"',
        id,
        internetMessageId: messageId,
        parentFolderId: folder,
        from: { emailAddress: { name: 'Somebody', address: from } },
        sender: { emailAddress: { name: 'A list', address: 'list@example.net' } },
      }));
    return { status: 200, body: { '@odata.context': 'messages', value: value.slice(0, 20) } };
  }

  private move(mail: StoredMail, { body }: VendorCall): Reply {
    const { destinationId } = body as { destinationId: string };
    const folder =
      FOLDERS[destinationId] ?? Object.values(FOLDERS).find((id) => id === destinationId);
    if (folder === undefined) return this.error(404, 'The destination folder does not exist.');
    this.moves += 1;
    mail.folder = folder;
    mail.id = `AAMkMoved${this.moves}/+=`;
    const { id, messageId } = mail;
    return { status: 201, body: { id, internetMessageId: messageId, parentFolderId: folder } };
  }

  private remove(mail: StoredMail): Reply {
    this.mails.splice(this.mails.indexOf(mail), 1);
    return { status: 204 };
  }

  private onMail({ path }: VendorCall, work: (mail: StoredMail) => Reply): Reply {
    const mail = this.mails.find(
      ({ id, mailbox }) => id === path['id'] && mailbox === path['mailbox'],
    );
    return mail ? work(mail) : this.error(404, 'The specified object was not found in the store.');
  }

  private onUser({ path }: VendorCall, work: (user: StoredUser) => Reply): Reply {
    const user = this.users.find(({ id, userPrincipalName }) =>
      [id, userPrincipalName].includes(path['user']!),
    );
    return user ? work(user) : this.error(404, `Resource '${path['user']}' does not exist.`);
  }
}

function shown({ id, userPrincipalName, accountEnabled }: StoredUser): Reply {
  return { status: 200, body: { id, userPrincipalName, accountEnabled } };
}

function enable(user: StoredUser, { body }: VendorCall): Reply {
  user.accountEnabled = (body as { accountEnabled: boolean }).accountEnabled;
  return { status: 204 };
}

function revoke(user: StoredUser): Reply {
  user.sessionsRevoked += 1;
  return { status: 200, body: { '@odata.context': 'Edm.Boolean', value: true } };
}
