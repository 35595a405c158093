/** SECRETS_KEY lacks the key that encrypted the value. The id of a key is not secret. */
export class UnknownSecretKeyError extends Error {
  constructor(keyId: string) {
    super(`A stored secret was sealed with the key ${keyId}, which SECRETS_KEY does not contain.`);
    this.name = new.target.name;
  }
}

/** One error for all other reasons, so that its text reveals nothing to an attacker who changes stored values. */
export class UnreadableSecretError extends Error {
  constructor() {
    super('A stored secret cannot be decrypted: it was altered, or it belongs to another record.');
    this.name = new.target.name;
  }
}

export class WrongKeyError extends Error {
  /** @param backup the file that needs the keys; if undefined, the database needs the keys */
  constructor(where: string, needed: readonly string[], given: readonly string[], backup?: string) {
    const keys = `the key${needed.length > 1 ? 's' : ''} ${needed.join(' and ')}`;
    const instead = given.length > 0 ? `contains ${given.join(' and ')}` : 'does not exist';
    const isNeeded = backup ? `The backup ${backup} needs` : 'This database was used with';
    // The current key of the database must stay first.
    const remedy = backup && given.length > 0 ? 'Add' : 'Restore';
    const place = remedy === 'Add' ? ', behind the current key' : '';
    super(
      `${isNeeded} ${keys}, but ${where} ${instead}. ${remedy} ${needed.join(' and ')} from your key store${place}. If it is lost, see "A lost key" in docs/operations.md.`,
    );
    this.name = new.target.name;
  }
}

/** A retired key must not encrypt new data, because the database would then need it again. */
export class RetiredKeyError extends Error {
  constructor(where: string, id: string) {
    super(`${where} begins with the retired key ${id}. Put the newer key first.`);
    this.name = new.target.name;
  }
}
