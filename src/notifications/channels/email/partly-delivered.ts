const MOST_MAILS = 1_000;

/** A mail that some have, and others did not get yet. */
export interface PartMail {
  readonly holders: readonly string[];
  /** How often it was tried so. */
  readonly attempts: number;
}

const NOTHING: PartMail = { holders: [], attempts: 0 };

/**
 * Who has a mail that others did not get yet, so that the next attempt is for the others alone. It is in the memory of one
 * replica: when another one makes the next attempt, some people get a second copy, with the same Message-ID.
 */
export class PartlyDelivered {
  private readonly mails = new Map<string, PartMail>();

  /** @param mail its channel and its event: what others get of the same event is no concern of a channel */
  find(mail: string): PartMail {
    return this.mails.get(mail) ?? NOTHING;
  }

  remember(mail: string, part: PartMail): void {
    // The one that was tried last stands at the end.
    this.mails.delete(mail);
    this.mails.set(mail, part);
    const [oldest] = this.mails.keys();
    if (this.mails.size > MOST_MAILS && oldest !== undefined) this.mails.delete(oldest);
  }

  forget(mail: string): void {
    this.mails.delete(mail);
  }
}
