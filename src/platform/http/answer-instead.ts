/** An answer to the letter. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Thrown where there is an answer already, so that nothing more needs to be done. */
export abstract class AnswerInstead extends Error {
  constructor(
    message: string,
    readonly answer: Answer,
    readonly headers: Readonly<Record<string, string>>,
  ) {
    super(message);
  }
}
