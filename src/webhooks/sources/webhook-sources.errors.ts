import { AppError, NotFoundError } from '../../platform/errors/app-error.js';

export class WebhookSourceNotFoundError extends NotFoundError {
  constructor() {
    super('Webhook source');
  }
}

export class WebhookSourceTakenError extends AppError {
  constructor(source: string) {
    super('conflict', `There is a webhook source ${source} already.`);
  }
}
