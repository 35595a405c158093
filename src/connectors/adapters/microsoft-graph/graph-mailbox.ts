import type { Gate } from '../../../platform/net/gate.js';
import { AnswerShapeError, listAt, nothing, textAt, valueAt } from '../../calls/answer-shape.js';
import { RefusedError } from '../../calls/refused.error.js';
import type { VendorApi } from '../../calls/vendor-api.js';

/** One copy of a mail in one folder of a mailbox. */
export interface MailCopy {
  readonly id: string;
  readonly folder: string;
  /** The addresses of its headers From and Sender, in lower case. */
  readonly senders: readonly string[];
}

/** A rule may have put copies into a few folders. So many are no copies of one mail any more. */
const MOST_COPIES = 20;

/**
 * One mailbox, which the requests of an action see.
 * https://learn.microsoft.com/en-us/graph/api/user-list-messages and mailfolder-get, message-move, message-permanentdelete
 */
export class GraphMailbox {
  constructor(
    private readonly api: VendorApi,
    readonly address: string,
    /** Undefined for a probe. */
    private readonly gate: Gate | undefined,
  ) {}

  /** The id of a folder that every mailbox has. */
  folder(name: 'junkemail'): Promise<string> {
    const path = this.path('mailFolders', name);
    const request = { method: 'GET', path, query: { $select: 'id' } } as const;
    return this.api.ask(this.gate, request, (json) => textAt(json, 'id'));
  }

  /** Every copy of the mail with this Message-ID. */
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
    throw new RefusedError(`There are ${MOST_COPIES} copies of the mail or more.`);
  }

  /** Answers the id that the copy has from now on. */
  move(gate: Gate, { id }: MailCopy, destinationId: string): Promise<string> {
    const path = this.path('messages', id, 'move');
    const request = { method: 'POST', path, body: { destinationId }, idempotent: false } as const;
    return this.api.change(gate, request, (json) => textAt(json, 'id'));
  }

  /** For good: it goes to where no mail program reaches. */
  delete(gate: Gate, { id }: MailCopy): Promise<void> {
    const path = this.path('messages', id, 'permanentDelete');
    return this.api.change(gate, { method: 'POST', path, idempotent: false }, nothing);
  }

  private path(...parts: readonly string[]): readonly string[] {
    return ['v1.0', 'users', this.address, ...parts];
  }
}

/** A service that did not know the filter would answer with any mail: none of those may be touched. */
function copyIn(item: unknown, messageId: string): MailCopy {
  if (textAt(item, 'internetMessageId').toLowerCase() !== messageId.toLowerCase()) {
    throw new AnswerShapeError('The answer holds another mail than the one that was asked for.');
  }
  const senders = ['from', 'sender'].map((header) =>
    valueAt(item, header, 'emailAddress', 'address'),
  );
  return {
    id: textAt(item, 'id'),
    folder: textAt(item, 'parentFolderId'),
    senders: senders.filter((one) => typeof one === 'string').map((one) => one.toLowerCase()),
  };
}
