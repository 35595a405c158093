import { AppError, NotFoundError } from '../platform/errors/app-error.js';

export class ChannelNotFoundError extends NotFoundError {
  constructor() {
    super('Notification channel');
  }
}

export class DeliveryNotFoundError extends NotFoundError {
  constructor() {
    super('Delivery');
  }
}

export class ChannelNameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `There is a notification channel named ${name} already.`);
  }
}

/** Each event is written once for each channel that wants it, in the transaction of its change. */
export class TooManyChannelsError extends AppError {
  constructor(most: number) {
    super('conflict', `There are ${most} notification channels already, which is the most.`);
  }
}

export class ChannelDisabledError extends AppError {
  constructor() {
    super('invalid_state', 'The channel is disabled, and delivers nothing.');
  }
}
