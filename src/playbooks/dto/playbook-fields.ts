import {
  LONGEST_DEFINITION,
  LONGEST_EXPRESSION,
  LONGEST_TEMPLATE,
  MOST_EXPRESSIONS,
  MOST_NESTED_LOOPS,
  MOST_STEPS,
  NAME,
  NAME_IN_WORDS,
} from '../language/playbook-definition.js';
import { ON_ERROR, PLAYBOOK_NAME, type PlaybookStep } from '../playbook.js';
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

/** Description of the expression language, for the contract. */
export const LANGUAGE_IN_WORDS = `A condition is an expression in [CEL](https://cel.dev), and so is the text within \`{{ }}\` in \`parameters\`. An expression can read:

- \`incident\`, as it was when the run started: \`id\`, \`incident_number\`, \`incident_type\`, \`severity\`, \`status\`, \`source\`, \`title\`, \`fields\`, \`raw_data\`, \`resolution\`, \`created_at\`, \`updated_at\`, \`triaged_at\`
- \`variables\`: the variables of the run
- \`steps.<name>.result\` of an earlier step: \`success\`, \`message\`, \`data\`. A step that was skipped has none
- \`verdict\`, in conditions only: \`classification\`, \`confidence\`, \`category\` and what else a verdict has

\`has(incident.raw_data.user)\` tells whether a field is present. Reading an absent field fails the step. \`isIP(text)\` tells whether a text is an address. In texts for people, links and mentions in values do not work unless \`raw(value)\` is the whole expression; \`oneLine(text)\` takes line breaks away and cuts to 200 characters; and \`incident.classification\` is the word of the verdict. There are no regular expressions, and loops can be nested at most ${MOST_NESTED_LOOPS} deep.

An expression has at most ${LONGEST_EXPRESSION} characters; a text with templates ${LONGEST_TEMPLATE}, and ${MOST_EXPRESSIONS} expressions; a playbook ${MOST_STEPS} steps, and \`variables\` and \`steps\` together ${LONGEST_DEFINITION} characters as JSON. The name of a variable or of a step is ${NAME_IN_WORDS}.`;

/* What the fields of playbooks show. The steps are those of the playbook that all examples of the contract tell of. */

/** A name that is always there, since the first start makes the shipped playbooks. */
export const SHIPPED_NAME = 'phishing-response';
export const PLAYBOOK_ID = '0193f2b6-9a44-7c1e-8a0b-9f4e2f0a7b6c';

export const VARIABLES_EXAMPLE = { channel: '#soc' };

export const STEPS_EXAMPLE = [
  {
    name: 'quarantine',
    action: 'quarantine_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(incident.raw_data.message_id)',
    on_error: 'stop',
  },
  {
    name: 'delete',
    action: 'delete_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(steps.quarantine.result)',
    approval_level: 'senior',
    on_error: 'continue',
  },
  {
    name: 'tell_team',
    action: 'notify_channel',
    parameters: {
      channel: '{{ variables.channel }}',
      message: 'The mail of {{ incident.incident_number }} is dealt with.',
    },
    on_error: 'continue',
  },
] as const satisfies PlaybookStep[];

export const CREATED = { created_by: 'system', created_at: '2026-01-29T08:00:00.000Z' };
export const CHANGED = { updated_by: 'alice', updated_at: '2026-01-30T16:00:00.000Z' };

/* The fields of a playbook, as requests and answers have them. */

/** As many as the model is shown. */
const LONGEST_INSTRUCTIONS = 8_000;
const LONGEST_DESCRIPTION = 2_000;
const MOST_TRIGGERS = 50;
const LONGEST_SOURCE = 255;

const CLEARED_BY = 'An empty text removes it.';

/** Wherever an address has the id of a playbook, it may have its name. */
export const ByNameOrId = () =>
  ApiParam({
    name: 'id',
    description: 'Id or name of the playbook. A malformed value is answered as unknown.',
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
    description: 'A disabled playbook starts no runs, and no model gets its instructions.',
    example: true,
    ...options,
  });

export const AutoRun = (options: FieldOptions = {}) =>
  Flag({
    description: 'Runs automatically after the triage of an incident that matches the triggers.',
    example: false,
    ...options,
  });

export const TrustVerdict = (options: FieldOptions = {}) =>
  Flag({
    description:
      'Automatic runs take steps whose condition reads the verdict without an approval, unless the action needs one. Only a manager can set it, or change such a playbook other than to disable or describe it.',
    example: false,
    ...options,
  });

export const Instructions = (options: FieldOptions = {}) =>
  Text({
    optional: true,
    max: LONGEST_INSTRUCTIONS,
    description: 'Guidance for the model if a triage names the playbook. It runs no steps.',
    example: 'Invoices come from billing@example.com only.',
    ...options,
  });

export const ClearableInstructions = () => Instructions({ description: CLEARED_BY });

export const Variables = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      'Names with default values. A run can override the values. Do not store secrets here: every role can read them.',
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
    description: 'Sources as incidents show them.',
    example: ['mail-gateway'],
    ...options,
  });

export const StepName = () =>
  Text({
    pattern: NAME,
    message: 'name must be 1 to 63 small letters, digits and underscores, beginning with a letter',
    description: 'Unique in the playbook. Later steps read the result of the step by this name.',
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
      'Parameters of the action. A text can have templates, `{{ expression }}`. A text that is one template as a whole takes the type of the value. Expressions are the same as in conditions, but cannot read `verdict`.',
    example: STEPS_EXAMPLE[0].parameters,
    ...options,
  });

export const Condition = () =>
  Text({
    optional: true,
    min: 1,
    max: LONGEST_EXPRESSION,
    description:
      'Expression in CEL. The step is skipped if it is false. `createPlaybook` describes what it can read.',
    example: STEPS_EXAMPLE[0].condition,
  });

export const AskedLevel = () =>
  Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Minimum approval level. It can raise the level that the action needs, and never lowers it.',
    example: 'analyst',
  });

export const OnErrorChoice = (options: FieldOptions = {}) =>
  Choice('OnError', ON_ERROR, {
    description: 'Whether the run ends or continues if the step fails or is rejected.',
    example: 'stop',
    ...options,
  });

export const TRIGGERS: FieldOptions = {
  description: 'Incidents that the playbook is for. A list that is empty or left out matches all.',
};

export const STEPS = {
  maxItems: MOST_STEPS,
  description: 'Steps, taken one after another.',
  example: STEPS_EXAMPLE,
};
