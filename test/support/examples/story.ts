import type { Scene } from './scene.js';
import { ACTIONS } from './story/actions.js';
import { END } from './story/end.js';
import { ERRORS, TROUBLES } from './story/errors.js';
import { EVENTS } from './story/events-and-triage.js';
import { PEOPLE } from './story/people.js';
import { PLAYBOOKS } from './story/playbooks.js';
import { TOOLS } from './story/tools.js';

/**
 * Story of the contract's examples. A user reports a mail that imitates the head of the company. Alice triages it and
 * has it quarantined, Bob approves actions that need a second person, and the incident is resolved.
 */
export const SCENES: readonly Scene[] = [
  ...PEOPLE,
  ...TOOLS,
  ...EVENTS,
  ...ACTIONS,
  ...PLAYBOOKS,
  ...END.slice(0, -1),
  ...ERRORS,
  ...TROUBLES,
  ...END.slice(-1),
];
