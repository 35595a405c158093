import { ApiParam } from '@nestjs/swagger';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { REQUIRED_LEVELS } from '../../actions/action.js';
import { INCIDENT_TYPE, SEVERITIES } from '../../incidents/incident.js';
import { SAYS_SOMETHING } from '../../platform/text.js';
import {
  Choice,
  Choices,
  type FieldOptions,
  Flag,
  JsonObject,
  OpenChoice,
  Text,
  Texts,
} from '../../platform/validation/fields.js';
import { LONGEST_EXPRESSION, MOST_STEPS } from '../language/limits.js';
import { NAME } from '../language/names.js';
import { ON_ERROR, PLAYBOOK_NAME } from '../playbook.js';
import { SHIPPED_NAME, STEPS_EXAMPLE, VARIABLES_EXAMPLE } from './playbook-examples.js';

/* The fields of a playbook, as requests and answers have them. */

/** As many as the model is shown. */
const LONGEST_INSTRUCTIONS = 8_000;
const LONGEST_DESCRIPTION = 2_000;
const MOST_TRIGGERS = 50;
const LONGEST_SOURCE = 255;

const CLEARED_BY = 'An empty text takes it away.';

/** Wherever an address has the id of a playbook, it may have its name. */
export const ByNameOrId = () =>
  ApiParam({
    name: 'id',
    description:
      'The id of the playbook, or its name. A malformed one is answered like an unknown one.',
    schema: { title: 'PlaybookReference', type: 'string' },
    example: SHIPPED_NAME,
  });

export const NO_SUCH_PLAYBOOK = 'There is no such playbook.';

export const PlaybookName = (options: FieldOptions = {}) =>
  Text({
    pattern: PLAYBOOK_NAME,
    message:
      'name must be 1 to 63 small letters, digits and hyphens, beginning with a letter or digit, and no UUID',
    // A generated client may not know what keeps a UUID out.
    contract: { pattern: '^[a-z0-9][a-z0-9-]{0,62}$' },
    description: 'Unique, and no UUID.',
    example: SHIPPED_NAME,
    ...options,
  });

export const Description = (options: FieldOptions = {}) =>
  Text({
    optional: true,
    max: LONGEST_DESCRIPTION,
    example: 'Takes a mail that somebody reported out of the mailbox.',
    ...options,
  });

export const ClearableDescription = () => Description({ description: CLEARED_BY });

export const Enabled = (options: FieldOptions = {}) =>
  Flag({
    description: 'A disabled playbook starts no run and guides no model.',
    example: true,
    ...options,
  });

export const AutoRun = (options: FieldOptions = {}) =>
  Flag({
    description: 'It runs by itself after the triage of an incident that its triggers take.',
    example: false,
    ...options,
  });

export const TrustVerdict = (options: FieldOptions = {}) =>
  Flag({
    description:
      'Automatic runs take the steps whose condition reads the verdict without asking a person, as far as the actions allow it. Only a manager can say so, or change such a playbook, but to stop it or to describe it.',
    example: false,
    ...options,
  });

export const Instructions = (options: FieldOptions = {}) =>
  Text({
    optional: true,
    max: LONGEST_INSTRUCTIONS,
    description: 'Guidance for the model when a triage names the playbook. It runs no step.',
    example: 'Invoices come from billing@example.com only.',
    ...options,
  });

export const ClearableInstructions = () => Instructions({ description: CLEARED_BY });

export const Variables = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      'Names, each with the value that it has unless a run says otherwise. They are no place for secrets: every role can read them.',
    example: VARIABLES_EXAMPLE,
    ...options,
  });

export const IncidentTypes = (options: FieldOptions = {}) =>
  Texts({
    maxItems: MOST_TRIGGERS,
    pattern: INCIDENT_TYPE,
    message:
      'each of incident_types must be 1 to 64 small letters, digits and underscores, beginning with a letter',
    example: ['phishing'],
    ...options,
  });

export const Severities = (options: FieldOptions = {}) =>
  Choices('Severity', SEVERITIES, {
    maxItems: SEVERITIES.length,
    example: ['high', 'critical'],
    ...options,
  });

export const Sources = (options: FieldOptions = {}) =>
  Texts({
    maxItems: MOST_TRIGGERS,
    maxLength: LONGEST_SOURCE,
    pattern: new RegExp(SAYS_SOMETHING),
    message: 'each of sources must not be blank',
    description: 'As incidents show them.',
    example: ['mail-gateway'],
    ...options,
  });

export const StepName = () =>
  Text({
    pattern: NAME,
    message: 'name must be 1 to 63 small letters, digits and underscores, beginning with a letter',
    description: 'Unique in the playbook: later steps find its result under it.',
    example: STEPS_EXAMPLE[0].name,
  });

export const StepAction = () =>
  OpenChoice('ActionTypeName', ACTION_TYPES, { example: STEPS_EXAMPLE[0].action });

/** In requests: a type that is not known is refused. */
export const ChosenAction = () =>
  Choice('KnownActionType', ACTION_TYPES, { example: STEPS_EXAMPLE[0].action });

export const StepParameters = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      'Those of the action. A text may have templates, `{{ expression }}`; one that is a template as a whole keeps the type of its value. The expressions are those of conditions, and do not read `verdict`.',
    example: STEPS_EXAMPLE[0].parameters,
    ...options,
  });

export const Condition = () =>
  Text({
    optional: true,
    min: 1,
    max: LONGEST_EXPRESSION,
    description:
      'An expression in CEL; the step is skipped when it is false. What it can read: see createPlaybook.',
    example: STEPS_EXAMPLE[0].condition,
  });

export const AskedLevel = () =>
  Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Asks for at least this approval. It raises what the action needs, and never lowers it.',
    example: 'analyst',
  });

export const OnErrorChoice = (options: FieldOptions = {}) =>
  Choice('OnError', ON_ERROR, {
    description: 'Whether the run ends when the step fails or is rejected, or goes on.',
    example: 'stop',
    ...options,
  });

export const TRIGGERS: FieldOptions = {
  description: 'The incidents that it is for. A list that is empty or left out takes any.',
};

export const STEPS = {
  maxItems: MOST_STEPS,
  description: 'Taken one after another.',
  example: STEPS_EXAMPLE,
};
