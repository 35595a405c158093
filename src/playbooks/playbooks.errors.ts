import { AppError, NotFoundError } from '../platform/errors/app-error.js';

export class PlaybookNotFoundError extends NotFoundError {
  constructor() {
    super('Playbook');
  }
}

export class PlaybookNameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `There is a playbook named ${name} already.`);
  }
}

export class TooManyPlaybooksError extends AppError {
  constructor(most: number) {
    super('conflict', `There are ${most} playbooks, and no more may be: delete one first.`);
  }
}
