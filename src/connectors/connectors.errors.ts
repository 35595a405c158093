import { AppError, NotFoundError } from '../platform/errors/app-error.js';

export class ConnectorNotFoundError extends NotFoundError {
  constructor() {
    super('Connector');
  }
}

export class ConnectorNameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `There is a connector named ${name} already.`);
  }
}
