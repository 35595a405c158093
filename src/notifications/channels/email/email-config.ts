import {
  isMailbox,
  MAIL_SERVER_PROPERTIES,
  type MailAccount,
  mailAccountProblems,
} from '../../../connectors/adapters/smtp/smtp-config.js';
import type { ConfigSchema } from '../../../connectors/config/config-schema.js';
import type { FieldError } from '../../../platform/errors/app-error.js';
import type { Targets } from '../../../platform/net/targets.js';

export interface EmailChannelConfig extends MailAccount {
  readonly to: readonly string[];
}

export const EMAIL_CHANNEL_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    ...MAIL_SERVER_PROPERTIES,
    to: {
      type: 'array',
      items: { type: 'string', minLength: 3, maxLength: 320 },
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      description: 'The addresses that each message goes to. All of them are named in it.',
    },
  },
  required: ['host', 'from', 'to'],
  additionalProperties: false,
};

export function emailConfigProblems(
  config: EmailChannelConfig,
  path: string,
  targets: Targets,
): FieldError[] {
  const wrong = config.to.flatMap((address, at): FieldError[] => {
    const field = `${path}.to.${at}`;
    const message = `${field} must be one email address.`;
    return isMailbox(address) ? [] : [{ field, code: 'is_email', message }];
  });
  return [...mailAccountProblems(config, path, targets), ...wrong];
}
