/** The operator has to act: the key that sealed it is missing from SECRETS_KEY. The id of a key is no secret. */
export class UnknownSecretKeyError extends Error {
  constructor(keyId: string) {
    super(`A stored secret was sealed with the key ${keyId}, which SECRETS_KEY does not hold.`);
    this.name = new.target.name;
  }
}

/** One error for every other reason, so that it tells nothing to whoever tampers. */
export class UnreadableSecretError extends Error {
  constructor() {
    super('A stored secret does not open: it was altered, or it belongs to another record.');
    this.name = new.target.name;
  }
}
