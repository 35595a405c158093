import {
  LONGEST_DEFINITION,
  LONGEST_EXPRESSION,
  LONGEST_TEMPLATE,
  MOST_EXPRESSIONS,
  MOST_NESTED_LOOPS,
  MOST_STEPS,
} from '../language/limits.js';
import { NAME_IN_WORDS } from '../language/names.js';

/** What whoever writes a playbook has to know, for those who have nothing but the contract. */
export const LANGUAGE_IN_WORDS = `A condition, and what stands in \`{{ }}\` in a text of \`parameters\`, is an expression in [CEL](https://cel.dev). It can read:

- \`incident\`, as it was when the run started: \`id\`, \`incident_number\`, \`incident_type\`, \`severity\`, \`status\`, \`source\`, \`title\`, \`raw_data\`, \`resolution\`, \`created_at\`, \`updated_at\`, \`triaged_at\`
- \`variables\`: the variables of the run
- \`steps.<name>.result\` of an earlier step: \`success\`, \`message\`, \`data\`. A step that was skipped has none
- \`verdict\`, in conditions only: \`classification\`, \`confidence\`, \`category\` and what else a verdict has

\`has(incident.raw_data.user)\` says whether something is there; to read what is not there fails the step. There are no regular expressions, and at most ${MOST_NESTED_LOOPS} loops one within another.

An expression has at most ${LONGEST_EXPRESSION} characters; a text with templates ${LONGEST_TEMPLATE}, and ${MOST_EXPRESSIONS} expressions; a playbook ${MOST_STEPS} steps, and \`variables\` and \`steps\` together ${LONGEST_DEFINITION} characters as JSON. The name of a variable or of a step is ${NAME_IN_WORDS}.`;
