/** The operator has to act: the key that encrypted the value is missing from SECRETS_KEY. The id of a key is no secret. */
export class UnknownSecretKeyError extends Error {
  constructor(keyId: string) {
    super(`A stored secret was sealed with the key ${keyId}, which SECRETS_KEY does not hold.`);
    this.name = new.target.name;
  }
}

/** The same error for every other reason, so that it tells nothing to somebody who tampers with the stored value. */
export class UnreadableSecretError extends Error {
  constructor() {
    super('A stored secret does not open: it was altered, or it belongs to another record.');
    this.name = new.target.name;
  }
}

/** Stops a start or a command before it writes anything. */
export class WrongKeyError extends Error {
  constructor(where: string, needed: readonly string[], given: readonly string[]) {
    const keys = `the key${needed.length > 1 ? 's' : ''} ${needed.join(' and ')}`;
    const instead = given.length > 0 ? `holds ${given.join(' and ')}` : 'is not there';
    super(
      `This database was used with ${keys}, and ${where} ${instead}: put ${needed.join(' and ')} back from where you keep your keys, or, when it is lost, see "A lost key" in docs/operations.md.`,
    );
    this.name = new.target.name;
  }
}

/** A retired key must not be used for new data, because the database would then need it again. */
export class RetiredKeyError extends Error {
  constructor(where: string, id: string) {
    super(
      `${where} begins with the key ${id}, which was given up for a newer one: put the newer one first.`,
    );
    this.name = new.target.name;
  }
}
