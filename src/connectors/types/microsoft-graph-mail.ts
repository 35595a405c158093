import { bareMessageId, mailAddressIn } from '../../action-catalogue/parameters.js';
import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { isObject } from '../../targets/target-config.js';
import { listAt, RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import type { VendorApi } from '../calls/vendor-api.js';
import type { ActionCall, ActionDefinition, Outcome } from '../connector-type.js';

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

/** Change of each copy of a mail. */
interface MailChange {
  /** Whether a copy is not yet as wanted. @param quarantine id of the folder; absent for a deletion */
  isLeft(copy: MailCopy, quarantine: string | undefined, mailbox: Mailbox): boolean;
  change(mailbox: Mailbox, copy: MailCopy): Promise<unknown>;
  readonly done: string;
  readonly already: string;
  /** @param changed results of `change` */
  data(changed: readonly unknown[], call: ActionCall): object;
  readonly preview?: (mails: string) => string;
}

const QUARANTINE_MAIL: MailChange = {
  isLeft: ({ folder }, quarantine) => folder !== quarantine,
  // The copy has a new id now. A rollback needs it and the folder.
  change: async (mailbox, copy) => ({
    id: await mailbox.move(copy, QUARANTINE),
    from: copy.folder,
  }),
  done: 'The mail is quarantined.',
  already: 'The mail was quarantined already.',
  // After an earlier attempt the moved copies are unknown. A rollback then releases all copies in quarantine.
  data: (moved, { attempt }) => (attempt === 1 ? { moved } : {}),
  preview: (mails) => `Moves ${mails} to quarantine`,
};

/** Moves the copies back to their folders if it rolls back a quarantine, else to the inbox. */
const RELEASE_MAIL: MailChange = {
  isLeft: ({ id, folder }, quarantine, { moved }) =>
    folder === quarantine && (moved?.has(id) ?? true),
  change: (mailbox, copy) => mailbox.move(copy, mailbox.moved?.get(copy.id) ?? INBOX),
  done: 'The mail is released.',
  already: 'The mail is not in quarantine.',
  data: ({ length }) => ({ released: length }),
};

const DELETE_MAIL: MailChange = {
  isLeft: () => true,
  change: (mailbox, copy) => mailbox.delete(copy),
  done: 'The mail is deleted.',
  already: 'The mail is deleted.',
  data: ({ length }) => ({ deleted: length }),
  preview: (mails) => `Deletes ${mails}`,
};

/**
 * Actions on the copies of a mail in all folders. Each looks them up first and does only what is left, so it can be
 * repeated.
 */
export const MAIL_ACTIONS = {
  quarantine_email: mailAction(QUARANTINE_MAIL),
  release_email: mailAction(RELEASE_MAIL),
  delete_email: mailAction(DELETE_MAIL),
};

function mailAction(change: MailChange): ActionDefinition<GraphMail> {
  const isDeletion = change === DELETE_MAIL;
  const leftIn = async ({ mailbox, copies }: Found): Promise<MailCopy[]> => {
    const quarantine = isDeletion ? undefined : await mailbox.quarantine();
    return copies.filter((copy) => change.isLeft(copy, quarantine, mailbox));
  };
  return {
    idempotent: true,
    /** Continues with the other mailboxes if one does not hold the mail. */
    send: async (graph, call) => {
      const all = await find(graph, call);
      const outcomes: Outcome[] = [];
      const refusals: RefusedError[] = [];
      for (const found of all) {
        const { mailbox } = found;
        if (mailbox.moved?.size === 0) {
          outcomes.push(NOTHING_TO_UNDO);
          continue;
        }
        const changed: unknown[] = [];
        try {
          requireMail(found);
          for (const copy of await leftIn(found)) changed.push(await change.change(mailbox, copy));
          const message = changed.length > 0 ? change.done : change.already;
          outcomes.push(done(found, message, change.data(changed, call)));
        } catch (error) {
          const isRefused = error instanceof RefusedError;
          if (isRefused && changed.length === 0) {
            const prefix = all.length > 1 ? `${mailbox.address}: ` : '';
            refusals.push(new RefusedError(`${prefix}${error.message}`));
            // After the first change, a refusal no longer means that nothing happened.
          } else if (!isRefused && outcomes.length === 0) throw error;
          else {
            const soFar = `${changed.length} copies in this mailbox, ${outcomes.length} other mailboxes`;
            const message = `Done so far: ${soFar}. ${(error as Error).message}`;
            throw new OutcomeUnknownError(message, 'broken', { cause: error });
          }
        }
      }
      if (outcomes.length === 0) throw refusals[0]!;
      return together(outcomes, refusals);
    },
    ask: async (graph, call) => {
      const outcomes: Outcome[] = [];
      // A released copy has a new id.
      for (const found of await find(graph, { ...call, undoes: undefined })) {
        const isKnown = !found.refusal && (isDeletion || found.copies.length > 0);
        if (!isKnown || (await leftIn(found)).length > 0) return 'unknown';
        outcomes.push(done({ ...found, others: [] }, change.done, {}));
      }
      return together(outcomes, []);
    },
    /** Counts the copies that the action would change now. */
    ...(change.preview && {
      preview: async (graph, call) => {
        const messages: string[] = [];
        let count = 0;
        for (const found of await find(graph, call)) {
          if (found.refusal) throw found.refusal;
          const { length } = await leftIn(found);
          const words = change.preview!(length === 1 ? '1 mail' : `${length} mails`);
          messages.push(`${words} in ${found.mailbox.address}.${leftAlone(found.others)}`);
          count += length;
        }
        return { count, message: messages.join(' ') };
      },
    }),
  };
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

const NOTHING_TO_UNDO: Outcome = {
  kind: 'done',
  message: 'Nothing to undo: the mail was in quarantine before.',
};

/** Throws RefusedError if the mailbox does not hold the mail. */
function requireMail({ copies, others, refusal }: Found): void {
  if (refusal) throw refusal;
  if (copies.length > 0) return;
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
    throw new OutcomeUnknownError('The answer contains a mail with another Message-ID.', 'broken');
  }
  const senders = ['from', 'sender']
    .map((header) => valueAt(item, header, 'emailAddress', 'address'))
    .filter((one) => typeof one === 'string')
    .map((one) => mailAddressIn(one) ?? one.toLowerCase());
  return { id: textAt(item, 'id'), folder: textAt(item, 'parentFolderId'), senders };
}
