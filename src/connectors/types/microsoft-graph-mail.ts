import { bareMessageId, mailAddressIn } from '../../action-catalogue/parameters.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import {
  isJsonObject,
  AnswerShapeError,
  listAt,
  nothing,
  textAt,
  valueAt,
} from '../calls/vendor-answers.js';
import { RefusedError } from '../calls/vendor-answers.js';
import type { VendorApi } from '../calls/vendor-api.js';
import type { ActionCall, Outcome, Preview } from '../connector-type.js';

/** Graph cannot move a mail into the quarantine of the mail service. In this folder its links are disabled. */
const QUARANTINE = 'junkemail';
const INBOX = 'inbox';
const NO_MAIL = 'The mailbox holds no mail with this message_id.';

/**
 * Finds the copies of a mail in all folders by its Message-ID. Each action checks the copies first and does only the
 * rest, so it can be repeated.
 */
export class GraphMail {
  constructor(
    private readonly api: VendorApi,
    private readonly defaultMailbox: string | undefined,
  ) {}

  async quarantine(call: ActionCall, gate: Gate): Promise<Outcome> {
    const bound = await this.bound(call, gate);
    return await inEachMailbox(bound, (one) => this.quarantineIn(one, gate));
  }

  /** Moves the copies back to their folders if it rolls back a quarantine, else to the inbox. */
  async release(call: ActionCall, gate: Gate): Promise<Outcome> {
    const bound = await this.bound(call, gate);
    return await inEachMailbox(bound, (one) => this.releaseIn(one, gate));
  }

  async delete(call: ActionCall, gate: Gate): Promise<Outcome> {
    const bound = await this.bound(call, gate);
    return await inEachMailbox(bound, (one) => this.deleteIn(one, gate));
  }

  /** Counts the copies that a quarantine or a deletion would change now. */
  async preview(call: ActionCall, gate: Gate): Promise<Preview> {
    const previews: Preview[] = [];
    const bound = await this.bound(call, gate);
    for (const one of callsOf(bound)) previews.push(await this.previewIn(one, gate));
    return {
      count: previews.reduce((sum, { count = 0 }) => sum + count, 0),
      message: previews.map(({ message }) => message).join(' '),
    };
  }

  async probe(call: ActionCall): Promise<Outcome | 'unknown'> {
    const outcomes: Outcome[] = [];
    for (const one of callsOf(call)) {
      const outcome = await this.probeIn(one);
      if (outcome === 'unknown') return outcome;
      outcomes.push(outcome);
    }
    return together(outcomes, []);
  }

  /**
   * Binds an action that names no sender and several mailboxes to the only sender in them, so that it acts on no mail of a
   * stranger who chose the same id.
   */
  private async bound(call: ActionCall, gate: Gate): Promise<ActionCall> {
    const calls = callsOf(call);
    if (calls.length < 2 || call.sender !== undefined || call.undoes) return call;
    const all: MailCopy[] = [];
    for (const one of calls) {
      try {
        all.push(...(await this.mailbox(one, gate).copiesOf(messageIdIn(one))));
      } catch (error) {
        // The action says why this mailbox refuses.
        if (!(error instanceof RefusedError)) throw error;
      }
    }
    if (isOfOneSender(all)) return { ...call, sender: all[0]?.senders[0] };
    throw new RefusedError(fromSeveral(all));
  }

  private async quarantineIn(call: ActionCall, gate: Gate): Promise<Outcome> {
    const mailbox = this.mailbox(call, gate);
    const quarantine = await mailbox.folder(QUARANTINE);
    const { copies, others } = await present(mailbox, call);
    const left = copies.filter(({ folder }) => folder !== quarantine);
    const moved: object[] = [];
    await eachOf(left, async (copy) => {
      // The copy has a new id now. A rollback needs it and the folder.
      const id = await mailbox.move(gate, copy, QUARANTINE);
      moved.push({ id, from: copy.folder });
    });
    const message =
      left.length > 0 ? 'The mail is quarantined.' : 'The mail was quarantined already.';
    // After an earlier attempt the moved copies are unknown. A rollback then releases all copies in quarantine.
    const known = call.attempt === 1 && { moved };
    return done(message, others, { mailbox: mailbox.address, ...known });
  }

  private async releaseIn(call: ActionCall, gate: Gate): Promise<Outcome> {
    const origins = originsIn(call);
    if (origins?.size === 0) {
      return { kind: 'done', message: 'Nothing to undo: the mail was in quarantine before.' };
    }
    const mailbox = this.mailbox(call, gate);
    const quarantine = await mailbox.folder(QUARANTINE);
    const { copies, others } = await present(mailbox, call, origins);
    const left = copies.filter(
      ({ id, folder }) => folder === quarantine && (origins?.has(id) ?? true),
    );
    await eachOf(left, async (copy) => {
      await mailbox.move(gate, copy, origins?.get(copy.id) ?? INBOX);
    });
    const message = left.length > 0 ? 'The mail is released.' : 'The mail is not in quarantine.';
    return done(message, others, { mailbox: mailbox.address, released: left.length });
  }

  private async deleteIn(call: ActionCall, gate: Gate): Promise<Outcome> {
    const mailbox = this.mailbox(call, gate);
    const { copies, others } = await present(mailbox, call);
    await eachOf(copies, (copy) => mailbox.delete(gate, copy));
    const data = { mailbox: mailbox.address, deleted: copies.length };
    return done('The mail is deleted.', others, data);
  }

  private async previewIn(call: ActionCall, gate: Gate): Promise<Preview> {
    const mailbox = this.mailbox(call, gate);
    const isDeletion = call.type === 'delete_email';
    const quarantine = isDeletion ? undefined : await mailbox.folder(QUARANTINE);
    const { copies, others } = await found(mailbox, call);
    const count = copies.filter(({ folder }) => folder !== quarantine).length;
    const mails = count === 1 ? '1 mail' : `${count} mails`;
    const words = isDeletion ? `Deletes ${mails}` : `Moves ${mails} to quarantine`;
    const left = others.length === 0 ? '' : ` ${leftAlone(call, others, copies.length === 0)}`;
    return { count, message: `${words} in ${mailbox.address}.${left}` };
  }

  private async probeIn(call: ActionCall): Promise<Outcome | 'unknown'> {
    const mailbox = this.mailbox(call, undefined);
    const { copies, others } = await found(mailbox, call);
    const data = { mailbox: mailbox.address };
    if (call.type === 'delete_email') {
      const message = 'The mailbox does not hold the mail any more.';
      // Without a sender, the mail may be among the others.
      const isGone = copies.length === 0 && (others.length === 0 || addressIn(call) !== undefined);
      return isGone ? { kind: 'done', message, data } : 'unknown';
    }
    const quarantine = await mailbox.folder(QUARANTINE);
    const isQuarantined = call.type === 'quarantine_email';
    const isDone = copies.every(({ folder }) => (folder === quarantine) === isQuarantined);
    if (copies.length === 0 || !isDone) return 'unknown';
    const message = `The mail is ${isQuarantined ? 'quarantined' : 'released'}.`;
    return { kind: 'done', message, data };
  }

  private mailbox({ parameters }: ActionCall, gate: Gate | undefined): GraphMailbox {
    const recipient = parameters['recipient'];
    const address = typeof recipient === 'string' ? recipient.trim() : this.defaultMailbox;
    if (address !== undefined) return new GraphMailbox(this.api, address, gate);
    throw new RefusedError('recipient is required: the connector has no default mailbox.');
  }
}

/** `recipient` may name several mailboxes, separated by commas. Each has its own copies. */
function callsOf(call: ActionCall): readonly ActionCall[] {
  const recipient = call.parameters['recipient'];
  const addresses = typeof recipient === 'string' ? recipient.split(/[,;]/) : [];
  const mailboxes = [...new Set(addresses.map((address) => address.trim()).filter(Boolean))];
  if (mailboxes.length < 2) return [call];
  const undone = call.undoes?.['mailboxes'];
  const results = Array.isArray(undone) ? undone.filter(isJsonObject) : [];
  return mailboxes.map((address) => ({
    ...call,
    parameters: { ...call.parameters, recipient: address },
    undoes: results.find(({ mailbox }) => mailbox === address),
  }));
}

/** Continues with the other mailboxes if one does not hold the mail. */
async function inEachMailbox(
  call: ActionCall,
  work: (call: ActionCall) => Promise<Outcome>,
): Promise<Outcome> {
  const calls = callsOf(call);
  if (calls.length === 1) return await work(call);
  const outcomes: Outcome[] = [];
  const refusals: RefusedError[] = [];
  for (const one of calls) {
    try {
      outcomes.push(await work(one));
    } catch (error) {
      if (error instanceof RefusedError) {
        const message = `${String(one.parameters['recipient'])}: ${error.message}`;
        refusals.push(new RefusedError(message));
      } else if (outcomes.length === 0) throw error;
      else {
        const message = `Done in ${outcomes.length} of ${calls.length} mailboxes.`;
        throw new OutcomeUnknownError(message, 'broken', { cause: error });
      }
    }
  }
  if (outcomes.length === 0) throw refusals[0]!;
  return together(outcomes, refusals);
}

/** Combines the outcomes of several mailboxes, with the data of each. */
function together(outcomes: readonly Outcome[], refusals: readonly RefusedError[]): Outcome {
  const [first, ...others] = outcomes;
  if (others.length === 0 && refusals.length === 0) return first!;
  const words = new Set([...outcomes, ...refusals].map(({ message }) => message));
  const mailboxes = outcomes.flatMap((outcome) => (outcome.kind === 'done' ? outcome.data : []));
  const count = outcomes.length + refusals.length;
  const message = `In ${outcomes.length} of ${count} mailboxes: ${[...words].join(' ')}`;
  return { kind: 'done', message, data: { mailboxes } };
}

/** Copies of the mail, and mails of other senders with the same id. */
interface Found {
  readonly copies: readonly MailCopy[];
  readonly others: readonly MailCopy[];
}

/**
 * @param moved copies that the action to undo has moved: they are known by their ids, whoever else sent a mail with the same
 * Message-ID since
 */
async function found(
  mailbox: GraphMailbox,
  call: ActionCall,
  moved?: ReadonlyMap<unknown, string>,
): Promise<Found> {
  const all = await mailbox.copiesOf(messageIdIn(call));
  const sender = addressIn(call);
  if (call.sender === undefined && moved) {
    return { copies: all.filter(({ id }) => moved.has(id)), others: [] };
  }
  const isMeant = ({ senders }: MailCopy): boolean =>
    call.sender === undefined
      ? isOfOneSender(all)
      : sender !== undefined && senders.includes(sender);
  return { copies: all.filter(isMeant), others: all.filter((copy) => !isMeant(copy)) };
}

async function present(
  mailbox: GraphMailbox,
  call: ActionCall,
  moved?: ReadonlyMap<unknown, string>,
): Promise<Found> {
  const mails = await found(mailbox, call, moved);
  if (mails.copies.length > 0) return mails;
  throw new RefusedError(mails.others.length > 0 ? leftAlone(call, mails.others, true) : NO_MAIL);
}

const isOfOneSender = (mails: readonly MailCopy[]): boolean =>
  new Set(mails.map(({ senders: [first] }) => first)).size < 2;

/** Says why other mails with the same Message-ID are not touched. `isAll`: the mailbox holds no other mail. */
function leftAlone(call: ActionCall, others: readonly MailCopy[], isAll: boolean): string {
  const from = sendersOf(others);
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

function done(
  message: string,
  others: readonly MailCopy[],
  data: Record<string, unknown>,
): Outcome {
  if (others.length === 0) return { kind: 'done', message, data };
  const from = sendersOf(others);
  return {
    kind: 'done',
    message: `${message} A mail with the same message_id from another sender (${from}) is left alone.`,
    data: { ...data, left_alone: others.map(({ senders }) => ({ from: senders[0] })) },
  };
}

const sendersOf = (mails: readonly MailCopy[]): string =>
  [...new Set(mails.map(({ senders: [first = 'nobody'] }) => first))].join(', ');

/** `undefined` if the incident names no sender, or a text that is not an address. */
function addressIn({ sender }: ActionCall): string | undefined {
  return sender === undefined ? undefined : mailAddressIn(sender);
}

/** Message id in angle brackets, as in the header. */
function messageIdIn({ parameters }: ActionCall): string {
  return `<${bareMessageId(String(parameters['message_id']))}>`;
}

/** Original folders of the copies that the action to undo has moved, by their current ids; `undefined` if unknown. */
function originsIn({ undoes }: ActionCall): ReadonlyMap<unknown, string> | undefined {
  const moved = undoes?.['moved'];
  if (!Array.isArray(moved)) return undefined;
  return new Map(
    moved.filter(isJsonObject).map(({ id, from }) => [id, typeof from === 'string' ? from : INBOX]),
  );
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

/** One copy of a mail in one folder of a mailbox. */
interface MailCopy {
  readonly id: string;
  readonly folder: string;
  /** Addresses of the headers From and Sender, in lower case. */
  readonly senders: readonly string[];
}

/** Mail rules may create a few copies. A higher number means other mails. */
const MOST_COPIES = 20;

/**
 * A mailbox. https://learn.microsoft.com/en-us/graph/api/user-list-messages, mailfolder-get, message-move and
 * message-permanentdelete
 */
class GraphMailbox {
  constructor(
    private readonly api: VendorApi,
    readonly address: string,
    /** `undefined` for a probe. */
    private readonly gate: Gate | undefined,
  ) {}

  /** Id of a well-known folder. */
  folder(name: 'junkemail'): Promise<string> {
    const path = this.path('mailFolders', name);
    const request = { method: 'GET', path, query: { $select: 'id' } } as const;
    return this.api.ask(this.gate, request, (json) => textAt(json, 'id'));
  }

  /** All copies of the mail with this Message-ID. */
  async copiesOf(messageId: string): Promise<readonly MailCopy[]> {
    const query = {
      $filter: `internetMessageId eq '${messageId.replaceAll("'", "''")}'`,
      $select: 'id,internetMessageId,parentFolderId,from,sender',
      $top: String(MOST_COPIES),
    };
    const request = { method: 'GET', path: this.path('messages'), query } as const;
    const copies = await this.api.ask(this.gate, request, (json) =>
      listAt(json, 'value').map((item) => copyIn(item, messageId)),
    );
    if (copies.length < MOST_COPIES) return copies;
    throw new RefusedError(
      `${MOST_COPIES} or more mails have this message id, so the action was not executed.`,
    );
  }

  /** Returns the new id of the copy. */
  move(gate: Gate, { id }: MailCopy, destinationId: string): Promise<string> {
    const path = this.path('messages', id, 'move');
    const request = { method: 'POST', path, body: { destinationId }, idempotent: false } as const;
    return this.api.change(gate, request, (json) => textAt(json, 'id'));
  }

  /** Deletes permanently: no mail client can restore the copy. */
  delete(gate: Gate, { id }: MailCopy): Promise<void> {
    const path = this.path('messages', id, 'permanentDelete');
    return this.api.change(gate, { method: 'POST', path, idempotent: false }, nothing);
  }

  private path(...parts: readonly string[]): readonly string[] {
    return ['v1.0', 'users', this.address, ...parts];
  }
}

/** A service that ignores the filter would return any mails, which must not be changed. */
function copyIn(item: unknown, messageId: string): MailCopy {
  if (textAt(item, 'internetMessageId').toLowerCase() !== messageId.toLowerCase()) {
    throw new AnswerShapeError('The answer contains a mail with another Message-ID.');
  }
  const senders = ['from', 'sender'].map((header) =>
    valueAt(item, header, 'emailAddress', 'address'),
  );
  return {
    id: textAt(item, 'id'),
    folder: textAt(item, 'parentFolderId'),
    senders: senders
      .filter((one) => typeof one === 'string')
      .map((one) => mailAddressIn(one) ?? one.toLowerCase()),
  };
}
