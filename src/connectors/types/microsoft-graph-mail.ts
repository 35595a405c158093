import { bareMessageId, mailAddressIn } from '../../action-catalogue/parameters.js';
import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { isObject } from '../../targets/target-config.js';
import {
  AnswerShapeError,
  listAt,
  RefusedError,
  textAt,
  valueAt,
} from '../calls/vendor-answers.js';
import type { VendorApi } from '../calls/vendor-api.js';
import type { ActionCall, ActionDefinition, Outcome, Preview } from '../connector-type.js';

/** Graph cannot move a mail into the quarantine of the mail service. In this folder its links are disabled. */
const QUARANTINE = 'junkemail';
const INBOX = 'inbox';
/** Mail rules may create a few copies. A higher number means other mails. */
const MOST_COPIES = 20;

interface GraphMail {
  readonly api: VendorApi;
  readonly defaultMailbox: string | undefined;
}

/** One copy of a mail in one folder of a mailbox. */
interface MailCopy {
  readonly id: string;
  readonly folder: string;
  /** Addresses of the headers From and Sender, in lower case. */
  readonly senders: readonly string[];
}

/** Copies of the mail, and mails of other senders with the same id. */
interface Found {
  readonly copies: readonly MailCopy[];
  readonly others: readonly MailCopy[];
}

/**
 * One mailbox of an action, with the mail that the action is about. https://learn.microsoft.com/en-us/graph/api/user-list-messages,
 * mailfolder-get, message-move and message-permanentdelete
 */
class Mailbox {
  constructor(
    private readonly api: VendorApi,
    readonly address: string,
    readonly call: ActionCall,
  ) {}

  /** Id of the folder for quarantined mails. */
  quarantine(): Promise<string> {
    const request = { path: this.path('mailFolders', QUARANTINE), query: { $select: 'id' } };
    return this.api.ask(request, (json) => textAt(json, 'id'));
  }

  /** Mails with the Message-ID, in all folders. */
  async mails(): Promise<readonly MailCopy[]> {
    const messageId = `<${bareMessageId(String(this.call.parameters['message_id']))}>`;
    const query = {
      $filter: `internetMessageId eq '${messageId.replaceAll("'", "''")}'`,
      $select: 'id,internetMessageId,parentFolderId,from,sender',
      $top: String(MOST_COPIES),
    };
    const mails = await this.api.ask({ path: this.path('messages'), query }, (json) =>
      listAt(json, 'value').map((item) => copyIn(item, messageId)),
    );
    if (mails.length < MOST_COPIES) return mails;
    throw new RefusedError(
      `${MOST_COPIES} or more mails have this message id, so the action was not executed.`,
    );
  }

  /**
   * @param moved copies that the action to undo has moved: they are known by their ids, whoever else sent a mail with the
   * same Message-ID since
   */
  async find(moved?: ReadonlyMap<unknown, string>): Promise<Found> {
    const all = await this.mails();
    const { sender } = this.call;
    if (sender === undefined && moved) {
      return { copies: all.filter(({ id }) => moved.has(id)), others: [] };
    }
    const address = addressIn(this.call);
    const isMeant = ({ senders }: MailCopy): boolean =>
      sender === undefined
        ? isOfOneSender(all)
        : address !== undefined && senders.includes(address);
    return { copies: all.filter(isMeant), others: all.filter((copy) => !isMeant(copy)) };
  }

  /** Throws RefusedError if the mailbox does not hold the mail. */
  async require(moved?: ReadonlyMap<unknown, string>): Promise<Found> {
    const found = await this.find(moved);
    if (found.copies.length > 0) return found;
    throw new RefusedError(
      found.others.length > 0
        ? leftAlone(this.call, found)
        : 'The mailbox holds no mail with this message_id.',
    );
  }

  /** Returns the new id of the copy. */
  move({ id }: MailCopy, destinationId: string): Promise<string> {
    const request = { path: this.path('messages', id, 'move'), body: { destinationId } };
    return this.api.change(request, (json) => textAt(json, 'id'));
  }

  /** Deletes permanently: no mail client can restore the copy. */
  delete({ id }: MailCopy): Promise<void> {
    return this.api.change({ path: this.path('messages', id, 'permanentDelete') });
  }

  done(message: string, others: readonly MailCopy[], more: Record<string, unknown>): Outcome {
    const data = { mailbox: this.address, ...more };
    if (others.length === 0) return { kind: 'done', message, data };
    return {
      kind: 'done',
      message: `${message} A mail with the same message_id from another sender (${sendersOf(others)}) is left alone.`,
      data: { ...data, left_alone: others.map(({ senders }) => ({ from: senders[0] })) },
    };
  }

  private path(...parts: readonly string[]): readonly string[] {
    return ['v1.0', 'users', this.address, ...parts];
  }
}

/**
 * Actions on the copies of a mail in all folders. Each looks them up first and does only what is left, so it can be
 * repeated.
 */
export const MAIL_ACTIONS = {
  quarantine_email: {
    ...mailAction(quarantine, async (mailbox) => {
      return (await areAllIn(mailbox, true)) && 'The mail is quarantined.';
    }),
    preview,
  },
  release_email: mailAction(release, async (mailbox) => {
    return (await areAllIn(mailbox, false)) && 'The mail is released.';
  }),
  delete_email: {
    ...mailAction(remove, async (mailbox) => {
      const { copies, others } = await mailbox.find();
      // Without a sender, the mail may be among the others.
      const isKnown = others.length === 0 || addressIn(mailbox.call) !== undefined;
      return copies.length === 0 && isKnown && 'The mailbox does not hold the mail any more.';
    }),
    preview,
  },
};

/** Whether the mailbox holds the mail, all of its copies in quarantine or all outside. */
async function areAllIn(mailbox: Mailbox, isQuarantined: boolean): Promise<boolean> {
  const { copies } = await mailbox.find();
  const quarantine = await mailbox.quarantine();
  const isRight = ({ folder }: MailCopy) => (folder === quarantine) === isQuarantined;
  return copies.length > 0 && copies.every(isRight);
}

/** @param state returns a sentence if the mailbox is in the wanted state */
function mailAction(
  work: (mailbox: Mailbox) => Promise<Outcome>,
  state: (mailbox: Mailbox) => Promise<string | false>,
): ActionDefinition<GraphMail> {
  return {
    idempotent: true,
    send: async (graph, call) => inEachMailbox(await boundMailboxes(graph, call), work),
    ask: async (graph, call) => {
      const outcomes: Outcome[] = [];
      for (const mailbox of mailboxesOf(graph, call)) {
        const message = await state(mailbox);
        if (!message) return 'unknown';
        outcomes.push(mailbox.done(message, [], {}));
      }
      return together(outcomes, []);
    },
  };
}

async function quarantine(mailbox: Mailbox): Promise<Outcome> {
  const quarantine = await mailbox.quarantine();
  const { copies, others } = await mailbox.require();
  const left = copies.filter(({ folder }) => folder !== quarantine);
  const moved: object[] = [];
  await eachOf(left, async (copy) => {
    // The copy has a new id now. A rollback needs it and the folder.
    const id = await mailbox.move(copy, QUARANTINE);
    moved.push({ id, from: copy.folder });
  });
  const message =
    left.length > 0 ? 'The mail is quarantined.' : 'The mail was quarantined already.';
  // After an earlier attempt the moved copies are unknown. A rollback then releases all copies in quarantine.
  return mailbox.done(message, others, mailbox.call.attempt === 1 ? { moved } : {});
}

/** Moves the copies back to their folders if it rolls back a quarantine, else to the inbox. */
async function release(mailbox: Mailbox): Promise<Outcome> {
  const origins = originsIn(mailbox.call);
  if (origins?.size === 0) {
    return { kind: 'done', message: 'Nothing to undo: the mail was in quarantine before.' };
  }
  const quarantine = await mailbox.quarantine();
  const { copies, others } = await mailbox.require(origins);
  const left = copies.filter(
    ({ id, folder }) => folder === quarantine && (origins?.has(id) ?? true),
  );
  await eachOf(left, async (copy) => {
    await mailbox.move(copy, origins?.get(copy.id) ?? INBOX);
  });
  const message = left.length > 0 ? 'The mail is released.' : 'The mail is not in quarantine.';
  return mailbox.done(message, others, { released: left.length });
}

async function remove(mailbox: Mailbox): Promise<Outcome> {
  const { copies, others } = await mailbox.require();
  await eachOf(copies, (copy) => mailbox.delete(copy));
  return mailbox.done('The mail is deleted.', others, { deleted: copies.length });
}

/** Counts the copies that a quarantine or a deletion would change now. */
async function preview(graph: GraphMail, call: ActionCall): Promise<Preview> {
  const messages: string[] = [];
  let count = 0;
  for (const mailbox of await boundMailboxes(graph, call)) {
    const quarantine = call.type === 'delete_email' ? undefined : await mailbox.quarantine();
    const found = await mailbox.find();
    const { length } = found.copies.filter(({ folder }) => folder !== quarantine);
    const mails = length === 1 ? '1 mail' : `${length} mails`;
    const words = quarantine === undefined ? `Deletes ${mails}` : `Moves ${mails} to quarantine`;
    const left = found.others.length === 0 ? '' : ` ${leftAlone(mailbox.call, found)}`;
    messages.push(`${words} in ${mailbox.address}.${left}`);
    count += length;
  }
  return { count, message: messages.join(' ') };
}

/** `recipient` may name several mailboxes, separated by commas. Each has its own copies. */
function mailboxesOf({ api, defaultMailbox }: GraphMail, call: ActionCall): readonly Mailbox[] {
  const { recipient } = call.parameters;
  const list = typeof recipient === 'string' ? recipient.trim() : defaultMailbox;
  if (list === undefined) {
    throw new RefusedError('recipient is required: the connector has no default mailbox.');
  }
  const addresses = list.split(/[,;]/).map((address) => address.trim());
  const mailboxes = [...new Set(addresses.filter(Boolean))];
  if (mailboxes.length < 2) return [new Mailbox(api, list, call)];
  const undone = call.undoes?.['mailboxes'];
  const results = Array.isArray(undone) ? undone.filter(isObject) : [];
  return mailboxes.map((address) => {
    const undoes = results.find(({ mailbox }) => mailbox === address);
    return new Mailbox(api, address, { ...call, undoes });
  });
}

/**
 * Binds an action that names no sender and several mailboxes to the only sender in them, so that it acts on no mail of a
 * stranger who chose the same id.
 */
async function boundMailboxes(graph: GraphMail, call: ActionCall): Promise<readonly Mailbox[]> {
  const mailboxes = mailboxesOf(graph, call);
  if (mailboxes.length < 2 || call.sender !== undefined || call.undoes) return mailboxes;
  const all: MailCopy[] = [];
  for (const mailbox of mailboxes) {
    try {
      all.push(...(await mailbox.mails()));
    } catch (error) {
      // The action says why this mailbox refuses.
      if (!(error instanceof RefusedError)) throw error;
    }
  }
  if (!isOfOneSender(all)) throw new RefusedError(fromSeveral(all));
  return mailboxesOf(graph, { ...call, sender: all[0]?.senders[0] });
}

/** Continues with the other mailboxes if one does not hold the mail. */
async function inEachMailbox(
  mailboxes: readonly Mailbox[],
  work: (mailbox: Mailbox) => Promise<Outcome>,
): Promise<Outcome> {
  if (mailboxes.length === 1) return await work(mailboxes[0]!);
  const outcomes: Outcome[] = [];
  const refusals: RefusedError[] = [];
  for (const mailbox of mailboxes) {
    try {
      outcomes.push(await work(mailbox));
    } catch (error) {
      if (error instanceof RefusedError) {
        refusals.push(new RefusedError(`${mailbox.address}: ${error.message}`));
      } else if (outcomes.length === 0) throw error;
      else {
        const message = `Done in ${outcomes.length} of ${mailboxes.length} mailboxes.`;
        throw new OutcomeUnknownError(message, 'broken', { cause: error });
      }
    }
  }
  if (outcomes.length === 0) throw refusals[0]!;
  return together(outcomes, refusals);
}

/** Combines the outcomes of several mailboxes, with the data of each. */
function together(outcomes: readonly Outcome[], refusals: readonly RefusedError[]): Outcome {
  const all = [...outcomes, ...refusals];
  if (all.length === 1) return outcomes[0]!;
  const words = [...new Set(all.map(({ message }) => message))].join(' ');
  const mailboxes = outcomes.flatMap((outcome) => (outcome.kind === 'done' ? outcome.data : []));
  const message = `In ${outcomes.length} of ${all.length} mailboxes: ${words}`;
  return { kind: 'done', message, data: { mailboxes } };
}

/** After the first copy, a refusal no longer means that nothing happened. */
async function eachOf(
  copies: readonly MailCopy[],
  work: (copy: MailCopy) => Promise<void>,
): Promise<void> {
  for (const [at, copy] of copies.entries()) {
    try {
      await work(copy);
    } catch (error) {
      if (!(error instanceof RefusedError) || at === 0) throw error;
      const message = `Done for ${at} of ${copies.length} copies of the mail. ${error.message}`;
      throw new OutcomeUnknownError(message, 'broken', { cause: error });
    }
  }
}

const isOfOneSender = (mails: readonly MailCopy[]): boolean =>
  new Set(mails.map(({ senders: [first] }) => first)).size < 2;

/** Says why other mails with the same Message-ID are not touched. */
function leftAlone(call: ActionCall, { copies, others }: Found): string {
  const from = sendersOf(others);
  const isAll = copies.length === 0;
  if (call.sender === undefined && isAll) return fromSeveral(others);
  if (call.sender !== undefined && addressIn(call) === undefined) {
    return `The sender of the incident is not a mail address, so mails with this message_id (from ${from}) are left alone.`;
  }
  return isAll
    ? `The mailbox holds a mail with this message_id, but not from the sender of the incident: it is from ${from}, and left alone.`
    : `Leaves alone ${others.length} with the same message_id from another sender (${from}).`;
}

function fromSeveral(mails: readonly MailCopy[]): string {
  return `Mails of several senders have this message_id (${sendersOf(mails)}), and the action names no sender: all are left alone. Request the action for an incident that names the sender.`;
}

const sendersOf = (mails: readonly MailCopy[]): string =>
  [...new Set(mails.map(({ senders: [first = 'nobody'] }) => first))].join(', ');

/** `undefined` if the incident names no sender, or a text that is not an address. */
function addressIn({ sender }: ActionCall): string | undefined {
  return sender === undefined ? undefined : mailAddressIn(sender);
}

/** Original folders of the copies that the action to undo has moved, by their current ids; `undefined` if unknown. */
function originsIn({ undoes }: ActionCall): ReadonlyMap<unknown, string> | undefined {
  const moved = undoes?.['moved'];
  if (!Array.isArray(moved)) return undefined;
  return new Map(
    moved.filter(isObject).map(({ id, from }) => [id, typeof from === 'string' ? from : INBOX]),
  );
}

/** A service that ignores the filter would return any mails, which must not be changed. */
function copyIn(item: unknown, messageId: string): MailCopy {
  if (textAt(item, 'internetMessageId').toLowerCase() !== messageId.toLowerCase()) {
    throw new AnswerShapeError('The answer contains a mail with another Message-ID.');
  }
  const senders = ['from', 'sender']
    .map((header) => valueAt(item, header, 'emailAddress', 'address'))
    .filter((one) => typeof one === 'string')
    .map((one) => mailAddressIn(one) ?? one.toLowerCase());
  return { id: textAt(item, 'id'), folder: textAt(item, 'parentFolderId'), senders };
}
