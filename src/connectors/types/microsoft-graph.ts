import { bareMessageId, mailAddressIn } from '../../action-catalogue/parameters.js';
import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { address, fields, optional, isObject, text } from '../../targets/target-config.js';
import { type Account, accountAction, judgeTarget, userIn } from '../calls/target-state.js';
import { booleanAt, listAt, RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import {
  MICROSOFT_LOGIN_FIELDS,
  microsoftTokens,
  type VendorApi,
  vendorApi,
} from '../calls/vendor-api.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  done,
} from '../connector-type.js';

interface Graph {
  readonly api: VendorApi;
  readonly defaultMailbox: string | undefined;
}

const USERS = ['v1.0', 'users'];
/** Folder of quarantined mails, in which links are disabled. Graph cannot move a mail into the quarantine of the mail service. */
const QUARANTINE = 'junkemail';
const INBOX = 'inbox';
/** Maximum copies of a mail. Mail rules create few copies; more copies are different mails with the same id. */
const MOST_COPIES = 20;

/** https://learn.microsoft.com/en-us/graph/api/user-get */
function readUser(api: VendorApi, user: string): Promise<Account> {
  const query = { $select: 'id,userPrincipalName,accountEnabled' };
  return api.ask({ path: [...USERS, user], query }, (json) => ({
    id: textAt(json, 'id'),
    name: textAt(json, 'userPrincipalName'),
    enabled: booleanAt(json, 'accountEnabled'),
  }));
}

/** https://learn.microsoft.com/en-us/graph/api/user-update */
const ACCOUNT = accountAction<Graph>({
  find: ({ api }, user) => readUser(api, user),
  setEnabled: ({ api }, { id }, accountEnabled) => {
    const body = { accountEnabled };
    return api.change({ method: 'PATCH', path: [...USERS, id], body, idempotent: true });
  },
});

export const microsoftGraph = defineConnector({
  name: 'microsoft_graph',
  description:
    'Microsoft 365 by Microsoft Graph: mails in Exchange Online, and accounts of Microsoft Entra ID.',
  config: fields({
    base_url: address('Address of the service. National clouds have their own.', {
      default: 'https://graph.microsoft.com',
    }),
    ...MICROSOFT_LOGIN_FIELDS,
    mailbox: optional(
      text('Default mailbox for actions on mail without a recipient.', {
        minLength: 1,
        maxLength: 320,
      }),
    ),
  }),
  connect: (config, outbound) => {
    const api = vendorApi(outbound, {
      vendor: 'Microsoft Graph',
      baseUrl: config.base_url,
      // In a national cloud, the scope is the address of that cloud.
      tokens: microsoftTokens(outbound, config, new URL(config.base_url).origin),
    });
    return (gate) => ({ api: api(gate), defaultMailbox: config.mailbox });
  },
  actions: {
    quarantine_email: mailAction({
      isLeft: ({ isQuarantined }) => !isQuarantined,
      // The moved copy has a new id. A rollback needs that id and the original folder.
      change: async (api, copy) => ({ id: await move(api, copy, QUARANTINE), from: copy.folder }),
      done: 'The mail is quarantined.',
      already: 'The mail was quarantined already.',
      // On a later attempt, the moved copies are unknown. A rollback then releases all copies in quarantine.
      data: (moved, { attempt }) => (attempt === 1 ? { moved } : {}),
      preview: (mails) => `Moves ${mails} to quarantine`,
    }),
    // A rollback of a quarantine moves the copies to their folders. Other releases move the copies to the inbox.
    release_email: mailAction({
      isLeft: ({ id, isQuarantined }, moved) => isQuarantined && (moved?.has(id) ?? true),
      change: (api, copy, moved) => move(api, copy, moved?.get(copy.id) ?? INBOX),
      done: 'The mail is released.',
      already: 'The mail is not in quarantine.',
      data: ({ length }) => ({ released: length }),
    }),
    // Deletes the copies permanently: users cannot restore them.
    delete_email: mailAction({
      isLeft: () => true,
      change: (api, { id, mailbox }) =>
        api.change({ path: [...USERS, mailbox, 'messages', id, 'permanentDelete'] }),
      done: 'The mail is deleted.',
      already: 'The mail is deleted.',
      data: ({ length }) => ({ deleted: length }),
      preview: (mails) => `Deletes ${mails}`,
    }),
    disable_user: ACCOUNT,
    enable_user: ACCOUNT,
    revoke_sessions: {
      idempotent: true,
      /** https://learn.microsoft.com/en-us/graph/api/user-revokesigninsessions */
      send: async ({ api }, call) => {
        const user = userIn(call);
        // The approval policy has already checked a user principal name. Its lookup would need another permission.
        if (!user.includes('@')) judgeTarget(call, (await readUser(api, user)).name);
        const path = [...USERS, user, 'revokeSignInSessions'];
        await api.change({ path, idempotent: true }, (json) => {
          // The documentation of the status is inconsistent, so only an explicit false is a failure.
          if (valueAt(json, 'value') === false) {
            throw new RefusedError('Microsoft Graph reports that the sessions were not revoked.');
          }
        });
        return done('The sessions are revoked. It may take some minutes until all have ended.');
      },
    },
  },
  /** The required permissions depend on the actions in use, so a missing permission to list users is not a failure. */
  test: async ({ api }) => {
    const query = { $select: 'id', $top: '1' };
    try {
      await api.ask({ path: USERS, query }, (json) => listAt(json, 'value'));
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 403) throw error;
      return 'Microsoft Graph accepts the credentials, but they may not read users.';
    }
    return 'Microsoft Graph accepts the credentials.';
  },
});

interface MailCopy {
  readonly id: string;
  readonly mailbox: string;
  readonly folder: string;
  readonly isQuarantined: boolean;
  readonly senders: readonly string[];
}

/** Original folders of the copies that the original action moved, by their current ids; `undefined` if unknown. */
type Moved = ReadonlyMap<unknown, string> | undefined;

interface MailChange {
  isLeft(copy: MailCopy, moved: Moved): boolean;
  change(api: VendorApi, copy: MailCopy, moved: Moved): Promise<unknown>;
  readonly done: string;
  readonly already: string;
  data(changed: readonly unknown[], call: ActionCall): object;
  readonly preview?: (mails: string) => string;
}

function mailAction({ preview, ...wanted }: MailChange): ActionDefinition<Graph> {
  return {
    idempotent: true,
    send: async (graph, call) => {
      const moved = movedIn(call.undoes);
      if (moved?.size === 0) return NOTHING_TO_UNDO;
      const found = await find(graph, call, moved);
      const { copies, others, mailboxes, notes } = found;
      if (copies.length === 0) {
        const which = others.length > 0 ? 'of the sender of the incident' : 'with this message_id';
        throw new RefusedError(
          [`No mail ${which} is in ${mailboxes.join(', ')}.`, ...notes].join(' '),
        );
      }
      const changed: unknown[] = [];
      try {
        for (const copy of copies.filter((one) => wanted.isLeft(one, moved))) {
          changed.push(await wanted.change(graph.api, copy, moved));
        }
      } catch (error) {
        if (!(error instanceof RefusedError) || changed.length === 0) throw error;
        const message = `Changed copies: ${changed.length}. The next change was refused. ${error.message}`;
        throw new OutcomeUnknownError(message, 'broken', { cause: error });
      }
      const text = changed.length > 0 ? wanted.done : wanted.already;
      return changedMail(found, text, wanted.data(changed, call));
    },
    ask: async (graph, call) => {
      // Passes no `moved`, because released copies have new ids.
      const found = await find(graph, call, undefined);
      const { copies, isPartial } = found;
      const isKnown = !isPartial && (copies.length > 0 || call.type === 'delete_email');
      const isDone = isKnown && !copies.some((copy) => wanted.isLeft(copy, undefined));
      return isDone ? changedMail(found, wanted.done, {}) : 'unknown';
    },
    ...(preview && {
      preview: async (graph, call) => {
        const { copies, mailboxes, notes, isPartial } = await find(graph, call, undefined);
        if (isPartial) throw new RefusedError(notes.join(' '));
        const count = copies.filter((copy) => wanted.isLeft(copy, undefined)).length;
        const change = preview(count === 1 ? '1 mail' : `${count} mails`);
        return { count, message: [`${change} in ${mailboxes.join(', ')}.`, ...notes].join(' ') };
      },
    }),
  };
}

type Found = Awaited<ReturnType<typeof find>>;

/** Finds the copies of a mail. Any sender can copy a Message-ID, so copies of several senders need a known sender. */
async function find(graph: Graph, call: ActionCall, moved: Moved) {
  const sender = call.sender === undefined ? undefined : mailAddressIn(call.sender);
  if (sender === undefined && call.sender !== undefined) {
    throw new RefusedError(
      'The sender of the incident is not a mail address, so no mail is changed.',
    );
  }
  const mailboxes = mailboxesOf(graph, call);
  const mails: MailCopy[] = [];
  const refusals: string[] = [];
  for (const mailbox of mailboxes) {
    try {
      mails.push(...(await mailsIn(graph.api, mailbox, call)));
    } catch (error) {
      if (!(error instanceof RefusedError) || mailboxes.length === 1) throw error;
      refusals.push(`${mailbox}: ${error.message}`);
    }
  }
  const isOfOne = new Set(mails.map(({ senders: [first] }) => first)).size <= 1;
  if (sender === undefined && !moved && !isOfOne) {
    const message = `Mails of several senders have this message_id (${sendersOf(mails)}), and the action names no sender: all are left alone. Request the action for an incident that names the sender.`;
    throw new RefusedError(message);
  }
  const isMeant = ({ id, senders }: MailCopy): boolean =>
    sender === undefined ? (moved?.has(id) ?? true) : senders.includes(sender);
  const copies = mails.filter(isMeant);
  const others = sender === undefined ? [] : mails.filter((mail) => !isMeant(mail));
  const leftAlone = `Mails with the same message_id from other senders (${sendersOf(others)}) are left alone.`;
  const notes = [...(others.length > 0 ? [leftAlone] : []), ...refusals];
  return { mailboxes, copies, others, notes, isPartial: refusals.length > 0 };
}

const sendersOf = (mails: readonly MailCopy[]): string =>
  [...new Set(mails.map(({ senders: [first = 'nobody'] }) => first))].join(', ');

function mailboxesOf({ defaultMailbox }: Graph, { parameters: { recipient } }: ActionCall) {
  const list = typeof recipient === 'string' ? recipient : defaultMailbox;
  const names = list?.split(/[,;]/).map((name) => name.trim());
  if (names) return [...new Set(names.filter(Boolean))];
  throw new RefusedError('recipient is required: the connector has no default mailbox.');
}

/** https://learn.microsoft.com/en-us/graph/api/user-list-messages and mailfolder-get */
async function mailsIn(
  api: VendorApi,
  mailbox: string,
  { type, parameters }: ActionCall,
): Promise<MailCopy[]> {
  const messageId = `<${bareMessageId(String(parameters['message_id']))}>`;
  const query = {
    $filter: `internetMessageId eq '${messageId.replaceAll("'", "''")}'`,
    $select: 'id,internetMessageId,parentFolderId,from,sender',
    $top: String(MOST_COPIES),
  };
  const path = [...USERS, mailbox];
  const mails = await api.ask({ path: [...path, 'messages'], query }, (json) =>
    listAt(json, 'value').map((item) => copyIn(item, messageId, mailbox)),
  );
  if (mails.length >= MOST_COPIES) {
    throw new RefusedError(`${MOST_COPIES} or more mails have this message id: none is changed.`);
  }
  if (type === 'delete_email' || mails.length === 0) return mails;
  const folder = { path: [...path, 'mailFolders', QUARANTINE], query: { $select: 'id' } };
  const quarantine = await api.ask(folder, (json) => textAt(json, 'id'));
  return mails.map((copy) => ({ ...copy, isQuarantined: copy.folder === quarantine }));
}

/** Reads a copy. Throws if the service ignored the filter, because other mails must not be changed. */
function copyIn(item: unknown, messageId: string, mailbox: string): MailCopy {
  if (textAt(item, 'internetMessageId').toLowerCase() !== messageId.toLowerCase()) {
    throw new OutcomeUnknownError('The answer contains a mail with another Message-ID.', 'broken');
  }
  const senders = ['from', 'sender']
    .map((header) => valueAt(item, header, 'emailAddress', 'address'))
    .filter((one) => typeof one === 'string')
    .map((one) => mailAddressIn(one) ?? one.toLowerCase());
  const [id, folder] = [textAt(item, 'id'), textAt(item, 'parentFolderId')];
  return { id, mailbox, folder, isQuarantined: false, senders };
}

function move(api: VendorApi, { id, mailbox }: MailCopy, destinationId: string): Promise<string> {
  const path = [...USERS, mailbox, 'messages', id, 'move'];
  return api.change({ path, body: { destinationId } }, (json) => textAt(json, 'id'));
}

function movedIn(undoes: ActionCall['undoes']): Moved {
  const moved = undoes?.['moved'];
  if (!Array.isArray(moved)) return undefined;
  return new Map(
    moved.filter(isObject).map(({ id, from }) => [id, typeof from === 'string' ? from : INBOX]),
  );
}

const NOTHING_TO_UNDO = done('Nothing to undo: the mail was in quarantine before.');

function changedMail({ copies, others, mailboxes, notes }: Found, text: string, more: object) {
  // After a deletion no mailbox has a copy, so all searched mailboxes count.
  const isHolder = (name: string) => copies.some(({ mailbox }) => mailbox === name);
  const holders = copies.length === 0 ? mailboxes : mailboxes.filter(isHolder);
  const of = `In ${holders.length} of ${mailboxes.length} mailboxes:`;
  const message = [...(mailboxes.length > 1 ? [of] : []), text, ...notes].join(' ');
  const left_alone = others.map(({ senders }) => ({ from: senders[0] }));
  const data = { mailbox: holders.join(', '), ...more, ...(others.length > 0 && { left_alone }) };
  return done(message, data);
}
