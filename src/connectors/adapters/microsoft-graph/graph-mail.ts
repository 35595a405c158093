import type { Gate } from '../../../platform/net/gate.js';
import { OutcomeUnknownError } from '../../../platform/net/net.errors.js';
import { isJsonObject } from '../../calls/answer-shape.js';
import { RefusedError } from '../../calls/refused.error.js';
import type { VendorApi } from '../../calls/vendor-api.js';
import type { ActionCall, Outcome } from '../../connector.port.js';
import { GraphMailbox, type MailCopy } from './graph-mailbox.js';

/** Graph can move a mail, but not into the quarantine of the mail service. What the user sees there is without its links. */
const QUARANTINE = 'junkemail';
const INBOX = 'inbox';
const NO_MAIL = 'The mailbox holds no mail with this message_id.';

/**
 * Mails, found by their Message-ID, in each folder that holds a copy. Every action looks first at where the copies are and
 * does only what is left to do, so that it may be repeated.
 */
export class GraphMail {
  constructor(
    private readonly api: VendorApi,
    private readonly defaultMailbox: string | undefined,
  ) {}

  async quarantine(call: ActionCall, gate: Gate): Promise<Outcome> {
    const mailbox = this.mailbox(call, gate);
    const quarantine = await mailbox.folder(QUARANTINE);
    const { copies, others } = await present(mailbox, call);
    const left = copies.filter(({ folder }) => folder !== quarantine);
    const moved: object[] = [];
    await eachOf(left, async (copy) => {
      // From now on the copy has another id. A rollback needs that, and the folder.
      const id = await mailbox.move(gate, copy, QUARANTINE);
      moved.push({ id, from: copy.folder });
    });
    const message =
      left.length > 0 ? 'The mail is quarantined.' : 'The mail was quarantined already.';
    // What an earlier attempt may have moved is not known: a rollback then releases all that is in quarantine.
    const known = call.attempt === 1 && { moved };
    return done(message, others, { mailbox: mailbox.address, ...known });
  }

  /** Back to where a quarantine has taken it from, when this rolls one back; else to the inbox. */
  async release(call: ActionCall, gate: Gate): Promise<Outcome> {
    const origins = originsIn(call);
    if (origins?.size === 0) {
      return { kind: 'done', message: 'Nothing to undo: the mail had been in quarantine already.' };
    }
    const mailbox = this.mailbox(call, gate);
    const quarantine = await mailbox.folder(QUARANTINE);
    const { copies, others } = await present(mailbox, call);
    const left = copies.filter(
      ({ id, folder }) => folder === quarantine && (origins?.has(id) ?? true),
    );
    await eachOf(left, async (copy) => {
      await mailbox.move(gate, copy, origins?.get(copy.id) ?? INBOX);
    });
    const message =
      left.length > 0 ? 'The mail is released.' : 'The mail is in quarantine no more.';
    return done(message, others, { mailbox: mailbox.address, released: left.length });
  }

  async delete(call: ActionCall, gate: Gate): Promise<Outcome> {
    const mailbox = this.mailbox(call, gate);
    const { copies, others } = await present(mailbox, call);
    await eachOf(copies, (copy) => mailbox.delete(gate, copy));
    const data = { mailbox: mailbox.address, deleted: copies.length };
    return done('The mail is deleted.', others, data);
  }

  async probe(call: ActionCall): Promise<Outcome | 'unknown'> {
    const mailbox = this.mailbox(call, undefined);
    const { copies } = await found(mailbox, call);
    const data = { mailbox: mailbox.address };
    if (call.type === 'delete_email') {
      const message = 'The mailbox holds the mail no more.';
      return copies.length === 0 ? { kind: 'done', message, data } : 'unknown';
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
    throw new RefusedError('recipient is needed: the connector has no default mailbox.');
  }
}

/** The copies of the mail that is meant, and the mails of other senders that have the same id. */
interface Found {
  readonly copies: readonly MailCopy[];
  readonly others: readonly MailCopy[];
}

async function found(mailbox: GraphMailbox, call: ActionCall): Promise<Found> {
  const all = await mailbox.copiesOf(messageIdIn(call));
  const sender = addressIn(call.sender);
  const isMeant = ({ senders }: MailCopy) => sender === undefined || senders.includes(sender);
  return { copies: all.filter(isMeant), others: all.filter((copy) => !isMeant(copy)) };
}

async function present(mailbox: GraphMailbox, call: ActionCall): Promise<Found> {
  const mails = await found(mailbox, call);
  if (mails.copies.length > 0) return mails;
  throw new RefusedError(
    mails.others.length > 0
      ? `The mailbox holds a mail with this message_id, but not from the sender of the incident: it is from ${sendersOf(mails.others)}, and left alone.`
      : NO_MAIL,
  );
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

/** `Ann <ann@example.com>` and the bare address alike. What is no address names no sender. */
function addressIn(sender = ''): string | undefined {
  const address = (/<([^<>]*)>\s*$/.exec(sender)?.[1] ?? sender).trim().toLowerCase();
  return address.includes('@') ? address : undefined;
}

/** As the header has it: in angle brackets. Some tools report it without them. */
function messageIdIn({ parameters }: ActionCall): string {
  const text = String(parameters['message_id']).trim();
  return text.startsWith('<') && text.endsWith('>') ? text : `<${text}>`;
}

/** The folder of each copy that the action to be undone has moved, by the id that the copy has now; undefined when nobody knows. */
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
