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

export interface GraphMail {
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

/**
 * One mailbox of an action. https://learn.microsoft.com/en-us/graph/api/user-list-messages, mailfolder-get, message-move and
 * message-permanentdelete
 */
class Mailbox {
  constructor(
    private readonly api: VendorApi,
    readonly address: string,
    /** Original folders of the copies that the action to undo has moved, by their current ids; `undefined` if unknown. */
    readonly moved: ReadonlyMap<unknown, string> | undefined,
  ) {}

  /** Id of the folder for quarantined mails. */
  quarantine(): Promise<string> {
    const request = { path: this.path('mailFolders', QUARANTINE), query: { $select: 'id' } };
    return this.api.ask(request, (json) => textAt(json, 'id'));
  }

  /** Mails with the Message-ID, in all folders. */
  async mails({ parameters }: ActionCall): Promise<readonly MailCopy[]> {
    const messageId = `<${bareMessageId(String(parameters['message_id']))}>`;
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

  /** Returns the new id of the copy. */
  move({ id }: MailCopy, destinationId: string): Promise<string> {
    const request = { path: this.path('messages', id, 'move'), body: { destinationId } };
    return this.api.change(request, (json) => textAt(json, 'id'));
  }

  /** Deletes permanently: no mail client can restore the copy. */
  delete({ id }: MailCopy): Promise<void> {
    return this.api.change({ path: this.path('messages', id, 'permanentDelete') });
  }

  private path(...parts: readonly string[]): readonly string[] {
    return ['v1.0', 'users', this.address, ...parts];
  }
}

/** A mailbox with the mails that have the Message-ID. */
interface Found {
  readonly mailbox: Mailbox;
  /** Copies of the mail of the action. */
  readonly copies: readonly MailCopy[];
  /** Mails of other senders. */
  readonly others: readonly MailCopy[];
  /** Why the mailbox is left alone. */
  readonly refusal?: RefusedError;
}

/**
 * Actions on the copies of a mail in all folders. Each looks them up first and does only what is left, so it can be
 * repeated.
 */
export const MAIL_ACTIONS = {
  quarantine_email: { ...mailAction(quarantine, allIn(true, 'The mail is quarantined.')), preview },
  release_email: mailAction(release, allIn(false, 'The mail is released.')),
  delete_email: {
    ...mailAction(remove, async ({ copies, refusal }) => {
      return copies.length === 0 && !refusal && 'The mailbox does not hold the mail any more.';
    }),
    preview,
  },
};

/** State of a mailbox that holds the mail, all of its copies in quarantine or all outside. */
function allIn(isQuarantined: boolean, message: string) {
  return async ({ mailbox, copies }: Found): Promise<string | false> => {
    const quarantine = await mailbox.quarantine();
    const isRight = ({ folder }: MailCopy) => (folder === quarantine) === isQuarantined;
    return copies.length > 0 && copies.every(isRight) && message;
  };
}

/** @param state returns a sentence if the mailbox is in the wanted state */
function mailAction(
  work: (found: Found, call: ActionCall) => Promise<Outcome>,
  state: (found: Found) => Promise<string | false>,
): ActionDefinition<GraphMail> {
  return {
    idempotent: true,
    send: async (graph, call) =>
      await inEachMailbox(await find(graph, call), (found) => work(found, call)),
    ask: async (graph, call) => {
      const outcomes: Outcome[] = [];
      // A released copy has a new id.
      for (const found of await find(graph, { ...call, undoes: undefined })) {
        const message = await state(found);
        if (!message) return 'unknown';
        outcomes.push(done({ ...found, others: [] }, message, {}));
      }
      return together(outcomes, []);
    },
  };
}

async function quarantine(found: Found, { attempt }: ActionCall): Promise<Outcome> {
  const { mailbox, copies } = found;
  const quarantine = await mailbox.quarantine();
  const left = copies.filter(({ folder }) => folder !== quarantine);
  const moved: object[] = [];
  await eachOf(left, async (copy) => {
    // The copy has a new id now. A rollback needs it and the folder.
    moved.push({ id: await mailbox.move(copy, QUARANTINE), from: copy.folder });
  });
  const message =
    left.length > 0 ? 'The mail is quarantined.' : 'The mail was quarantined already.';
  // After an earlier attempt the moved copies are unknown. A rollback then releases all copies in quarantine.
  return done(found, message, attempt === 1 ? { moved } : {});
}

/** Moves the copies back to their folders if it rolls back a quarantine, else to the inbox. */
async function release(found: Found): Promise<Outcome> {
  const { mailbox, copies } = found;
  const quarantine = await mailbox.quarantine();
  const left = copies.filter(
    ({ id, folder }) => folder === quarantine && (mailbox.moved?.has(id) ?? true),
  );
  await eachOf(left, async (copy) => {
    await mailbox.move(copy, mailbox.moved?.get(copy.id) ?? INBOX);
  });
  const message = left.length > 0 ? 'The mail is released.' : 'The mail is not in quarantine.';
  return done(found, message, { released: left.length });
}

async function remove(found: Found): Promise<Outcome> {
  await eachOf(found.copies, (copy) => found.mailbox.delete(copy));
  return done(found, 'The mail is deleted.', { deleted: found.copies.length });
}

/** Counts the copies that a quarantine or a deletion would change now. */
async function preview(graph: GraphMail, call: ActionCall): Promise<Preview> {
  const messages: string[] = [];
  let count = 0;
  for (const { mailbox, copies, others, refusal } of await find(graph, call)) {
    if (refusal) throw refusal;
    const quarantine = call.type === 'delete_email' ? undefined : await mailbox.quarantine();
    const { length } = copies.filter(({ folder }) => folder !== quarantine);
    const mails = length === 1 ? '1 mail' : `${length} mails`;
    const words = quarantine === undefined ? `Deletes ${mails}` : `Moves ${mails} to quarantine`;
    messages.push(`${words} in ${mailbox.address}.${leftAlone(others)}`);
    count += length;
  }
  return { count, message: messages.join(' ') };
}

/**
 * Finds the mail in the mailboxes of the action. Any sender can choose the Message-ID of another mail, so the mail is
 * known by the sender of the incident, or by the ids of the copies that the action to undo has moved. Otherwise all
 * mails with the Message-ID must be of one sender.
 */
async function find(graph: GraphMail, call: ActionCall): Promise<Found[]> {
  const sender = call.sender === undefined ? undefined : mailAddressIn(call.sender);
  if (sender === undefined && call.sender !== undefined) {
    const text = 'The sender of the incident is not a mail address';
    throw new RefusedError(`${text}, so all mails with this message_id are left alone.`);
  }
  const mailboxes = mailboxesOf(graph, call);
  const found: Found[] = [];
  const unproven: MailCopy[] = [];
  for (const mailbox of mailboxes) {
    try {
      const mails = await mailbox.mails(call);
      const byId = sender === undefined ? mailbox.moved : undefined;
      if (sender === undefined && !byId) unproven.push(...mails);
      const isMeant = ({ id, senders }: MailCopy): boolean =>
        byId ? byId.has(id) : sender === undefined || senders.includes(sender);
      const copies = mails.filter(isMeant);
      found.push({ mailbox, copies, others: byId ? [] : mails.filter((one) => !isMeant(one)) });
    } catch (error) {
      if (!(error instanceof RefusedError) || mailboxes.length === 1) throw error;
      found.push({ mailbox, copies: [], others: [], refusal: error });
    }
  }
  const senders = new Set(unproven.map(({ senders: [first] }) => first));
  if (senders.size < 2) return found;
  throw new RefusedError(
    `Mails of several senders have this message_id (${sendersOf(unproven)}), and the action names no sender: all are left alone. Request the action for an incident that names the sender.`,
  );
}

/** `recipient` may name several mailboxes, separated by commas. Each has its own copies. */
function mailboxesOf({ api, defaultMailbox }: GraphMail, call: ActionCall): readonly Mailbox[] {
  const { recipient } = call.parameters;
  const list = typeof recipient === 'string' ? recipient.trim() : defaultMailbox;
  if (list === undefined) {
    throw new RefusedError('recipient is required: the connector has no default mailbox.');
  }
  const addresses = list.split(/[,;]/).map((address) => address.trim());
  const names = [...new Set(addresses.filter(Boolean))];
  if (names.length < 2) return [new Mailbox(api, list, movedIn(call.undoes))];
  const undone = call.undoes?.['mailboxes'];
  const results = Array.isArray(undone) ? undone.filter(isObject) : [];
  return names.map((name) => {
    const result = results.find(({ mailbox }) => mailbox === name);
    return new Mailbox(api, name, movedIn(result));
  });
}

/** Continues with the other mailboxes if one does not hold the mail. */
async function inEachMailbox(
  all: readonly Found[],
  work: (found: Found) => Promise<Outcome>,
): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  const refusals: RefusedError[] = [];
  for (const found of all) {
    try {
      outcomes.push(await workOn(found, work));
    } catch (error) {
      if (all.length === 1) throw error;
      if (error instanceof RefusedError) {
        refusals.push(new RefusedError(`${found.mailbox.address}: ${error.message}`));
      } else if (outcomes.length === 0) throw error;
      else {
        const message = `Done in ${outcomes.length} of ${all.length} mailboxes.`;
        throw new OutcomeUnknownError(message, 'broken', { cause: error });
      }
    }
  }
  if (outcomes.length === 0) throw refusals[0]!;
  return together(outcomes, refusals);
}

async function workOn(found: Found, work: (found: Found) => Promise<Outcome>): Promise<Outcome> {
  const { mailbox, copies, others, refusal } = found;
  if (refusal) throw refusal;
  if (mailbox.moved?.size === 0) {
    return { kind: 'done', message: 'Nothing to undo: the mail was in quarantine before.' };
  }
  if (copies.length > 0) return await work(found);
  throw new RefusedError(
    others.length === 0
      ? 'The mailbox holds no mail with this message_id.'
      : `The mailbox holds no mail of the sender of the incident.${leftAlone(others)}`,
  );
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

function done({ mailbox, others }: Found, message: string, more: object): Outcome {
  const left_alone = others.map(({ senders }) => ({ from: senders[0] }));
  const data = { mailbox: mailbox.address, ...more, ...(others.length > 0 && { left_alone }) };
  return { kind: 'done', message: `${message}${leftAlone(others)}`, data };
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

/** A further sentence; empty if there are no other mails. */
function leftAlone(others: readonly MailCopy[]): string {
  if (others.length === 0) return '';
  return ` Mails with the same message_id from other senders (${sendersOf(others)}) are left alone.`;
}

const sendersOf = (mails: readonly MailCopy[]): string =>
  [...new Set(mails.map(({ senders: [first = 'nobody'] }) => first))].join(', ');

function movedIn(undoes: ActionCall['undoes']): Mailbox['moved'] {
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
