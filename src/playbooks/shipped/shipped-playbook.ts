import type { PlaybookDefinition } from '../playbook.js';

/** A playbook that comes with the service, and is the site's own from the first start on. */
export interface ShippedPlaybook {
  readonly name: string;
  readonly definition: PlaybookDefinition;
}
