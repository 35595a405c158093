import { version } from '../config/version.js';
import { Text } from '../validation/fields.js';

const Address = (description: string, example: string) => Text({ description, example });

export class ServiceIndexDto {
  @Text({ description: 'What this service is.', example: 'Incident Triage Service' })
  readonly name: string;

  @Text({ description: 'The version that runs, as `/health` tells it, too.', example: '0.1.0' })
  readonly version: string;

  @Address('Where the addresses of the API begin.', '/api')
  readonly api: string;

  @Address('The page with every operation, for people who have logged in.', '/docs')
  readonly docs: string;

  @Address('The contract, from which clients are generated.', '/openapi.json')
  readonly openapi: string;

  @Address('Whether the service works.', '/health')
  readonly health: string;
}

/** What everybody may know: the document and the health say no less. */
export const SERVICE_INDEX: ServiceIndexDto = {
  name: 'Incident Triage Service',
  version,
  api: '/api',
  docs: '/docs',
  openapi: '/openapi.json',
  health: '/health',
};
