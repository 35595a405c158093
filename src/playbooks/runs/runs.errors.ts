import { AppError, NotFoundError } from '../../platform/errors/app-error.js';

export class RunEndedError extends AppError {
  constructor() {
    super('invalid_state', 'The playbook run has ended.');
  }
}

export class PlaybookDisabledError extends AppError {
  constructor(name: string) {
    super('invalid_state', `The playbook ${name} is disabled: it starts no run.`, {
      details: { reason: 'playbook_disabled' },
    });
  }
}

export class PlaybookRunNotFoundError extends NotFoundError {
  constructor() {
    super('Playbook run');
  }
}
