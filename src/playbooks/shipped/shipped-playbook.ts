import type { PlaybookDefinition } from '../playbook.js';

/**
 * A playbook that comes with the service, and is the site's own from the first start on. What it says to people in chats,
 * tickets and mails has no words of the incident's title or raw data: strangers write these, with mentions, links and marks
 * that such tools act on. The number of the incident leads to them.
 */
export interface ShippedPlaybook {
  readonly name: string;
  readonly definition: PlaybookDefinition;
}
