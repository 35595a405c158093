import { type Environment, TypeError as CelTypeError } from '@marcbachmann/cel-js';
import { actionType, isActionType } from '../../action-catalogue/action-types.js';
import { type ActionParameter, parameterErrors } from '../../action-catalogue/parameters.js';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import {
  isName,
  LONGEST_DEFINITION,
  MOST_STEPS,
  NAME_IN_WORDS,
  type PlaybookDefinition,
  type WrittenStep,
} from '../playbook.js';
import { INCIDENT_TEXTS } from './decide-step.js';
import {
  childrenOf,
  ExpressionError,
  fail,
  fieldRead,
  isRoot,
  type Node,
  nodesOf,
  placeholdersOf,
  positionOf,
  readExpression,
  readsClassification,
  readTemplate,
  type Root,
  ROOTS,
  soleOf,
  withExpression,
} from './expression.js';
import { asSentence, LANGUAGE } from './operations.js';

type Variables = PlaybookDefinition['variables'];
type Fields = Readonly<Record<string, string>>;

/** The incident of the API, with the classification of its verdict. Other fields of the verdict are only in `verdict`. */
const INCIDENT: Fields = {
  ...Object.fromEntries(['classification', ...INCIDENT_TEXTS].map((name) => [name, 'string'])),
  fields: 'map<string, dyn>',
  raw_data: 'map<string, dyn>',
};

const VERDICT: Fields = {
  classification: 'string',
  confidence: 'double',
  category: 'string',
  reasoning: 'string',
  indicators: 'list<map<string, dyn>>',
  mitre_techniques: 'list<string>',
  evidence: 'list<map<string, dyn>>',
  decided_by: 'string',
  model: 'string',
  recommended_actions: 'list<string>',
};

const RESULT: Fields = {
  success: 'bool',
  message: 'string',
  code: 'string',
  simulated: 'bool',
  data: 'map<string, dyn>',
};

const COMMON = LANGUAGE.clone()
  .registerType('Incident', { fields: INCIDENT })
  .registerType('Verdict', { fields: VERDICT })
  .registerType('Result', { fields: RESULT })
  .registerType('Step', { fields: { result: 'Result' } })
  .registerVariable('incident', 'Incident')
  .registerVariable('verdict', 'Verdict')
  .registerVariable('steps', 'map<string, Step>');

function typeOfJson(value: unknown): string {
  if (typeof value !== 'object')
    return { number: 'double', boolean: 'bool' }[typeof value as string] ?? 'string';
  if (value === null) return 'dyn';
  return Array.isArray(value) ? 'list<dyn>' : 'map<string, dyn>';
}

/** Types of the values that the expressions of one playbook can read. */
class ExpressionTypes {
  private readonly types: Environment;
  private readonly variables: Fields;

  constructor(
    variables: Variables,
    private readonly steps: readonly string[],
  ) {
    const types = Object.entries(variables).map(([name, value]) => [name, typeOfJson(value)]);
    this.variables = Object.fromEntries(types) as Fields;
    this.types = COMMON.clone()
      .registerType('Variables', { fields: this.variables })
      .registerVariable('variables', 'Variables');
  }

  /** Returns the library's name of the type of an expression in the step at this position. Throws ExpressionError. */
  typeOf(tree: Node, position: number, isForPeople = false): string {
    // Elsewhere a model could choose the action.
    const refused = isForPeople ? undefined : nodesOf(tree).find(readsClassification);
    if (refused) {
      fail(
        refused.pos,
        'Only texts for people can read incident.classification. A condition can read verdict.classification.',
      );
    }
    const readable = {
      incident: Object.keys(INCIDENT),
      verdict: Object.keys(VERDICT),
      variables: Object.keys(this.variables),
      steps: this.steps.slice(0, position),
    };
    checkFields(tree, readable);
    const { type, error } = this.types.check(tree.input);
    if (type !== undefined) return type;
    if (!(error instanceof CelTypeError)) throw new Error('The library read this before.');
    return fail(positionOf(error.node ?? tree), asSentence(error.summary));
  }
}

/** The library does not check names in has() and does not know the order of steps. */
function checkFields(node: Node, readable: Readonly<Record<Root, readonly string[]>>): void {
  const read = fieldRead(node);
  if (read && !readable[read.root].includes(read.name)) {
    const which = read.root === 'steps' ? 'the earlier steps' : read.root;
    fail(node.pos, `There is no ${read.name} in ${which}.`);
  }
  if (read) return;
  if (node.op === 'id' && isRoot(node.args)) {
    const root = node.args;
    fail(node.pos, `Only single fields of ${root} can be read, such as ${root}.name.`);
  }
  for (const child of childrenOf(node)) checkFields(child, readable);
}

/** Returns the problems of a playbook; none if it can be saved. */
export function checkPlaybook({
  variables,
  steps,
}: {
  readonly variables: Variables;
  readonly steps: readonly WrittenStep[];
}): FieldError[] {
  if (JSON.stringify({ variables, steps }).length > LONGEST_DEFINITION) {
    const message = `variables and steps have at most ${LONGEST_DEFINITION} characters together, as JSON.`;
    return [wrong('', message)];
  }
  if (steps.length > MOST_STEPS) {
    return [wrong('steps', `steps must have at most ${MOST_STEPS} items.`)];
  }
  const wrongNames = Object.keys(variables).filter((name) => !isName(name));
  if (wrongNames.length > 0) {
    const fields = wrongNames.slice(0, MOST_ERRORS).map((name) => `variables.${shownName(name)}`);
    return fields.map((field) => wrong(field, `${field} ${NAME_IN_WORDS}.`));
  }
  const names = steps.map(({ name }) => name);
  const types = new ExpressionTypes(variables, names);
  return steps
    .flatMap((step, position) => stepErrors(step, position, names, types))
    .slice(0, MOST_ERRORS);
}

function wrong(field: string, message: string): FieldError {
  return { field, code: 'playbook', message };
}

function stepErrors(
  { name, action, condition, parameters }: WrittenStep,
  position: number,
  names: readonly string[],
  types: ExpressionTypes,
): FieldError[] {
  const errors: FieldError[] = [];
  const path = (field: string) => `steps.${position}.${field}`;
  const add = (field: string, problem: string) =>
    errors.push(wrong(path(field), `${path(field)} ${problem}.`));
  const attempt = (field: string, check: () => void) => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      errors.push(error.inField(path(field)));
    }
  };
  const requireType = (tree: Node, wanted: Wanted, isForPeople?: boolean) => {
    const type = types.typeOf(tree, position, isForPeople);
    if (type === 'dyn' || wanted.types.includes(type)) return;
    fail(tree.start, `${wanted.words}, not ${type}.`);
  };
  const checkTemplate = (text: string, { type, forPeople }: ActionParameter) => {
    const template = readTemplate(text);
    const sole = soleOf(template);
    if (!sole && type !== 'string') {
      fail(0, 'This parameter is a number: write one {{ }} and nothing around it.');
    }
    const wanted = sole ? WANTED[type] : WANTED_IN_TEXT;
    for (const placeholder of placeholdersOf(template)) {
      withExpression(placeholder, (tree) => requireType(tree, wanted, forPeople));
    }
  };

  if (!isName(name)) add('name', NAME_IN_WORDS);
  if (names.indexOf(name) < position) add('name', 'is the name of an earlier step');
  if (condition !== undefined) {
    attempt('condition', () => requireType(readExpression(condition, ROOTS), WANTED_OF_CONDITION));
  }
  if (!isActionType(action)) {
    add('action', `must be an action type; ${shownName(action)} is not known`);
    return errors;
  }
  const type = actionType(action);
  const templated = new Set<string>();
  for (const [key, value] of Object.entries(parameters)) {
    const parameter = type.parameters.find((known) => known.name === key);
    if (!parameter || typeof value !== 'string' || !value.includes('{{')) continue;
    const field = `parameters.${key}`;
    templated.add(field);
    attempt(field, () => checkTemplate(value, parameter));
  }
  for (const { field, message } of parameterErrors(type, parameters)) {
    // The sentence begins with the field.
    if (!templated.has(field)) errors.push(wrong(path(field), path(message)));
  }
  return errors;
}

/** Permitted types. `dyn` is always permitted, because its type is known only in the run. */
interface Wanted {
  readonly types: readonly string[];
  readonly words: string;
}

const WANTED_OF_CONDITION: Wanted = { types: ['bool'], words: 'A condition must be true or false' };
const WANTED: Readonly<Record<ActionParameter['type'], Wanted>> = {
  string: { types: ['string'], words: 'This parameter must be a text' },
  integer: { types: ['int', 'double'], words: 'This parameter must be a whole number' },
};
const WANTED_IN_TEXT: Wanted = {
  types: ['string', 'int', 'double', 'bool'],
  words: 'A template within a text must be a text, a number, or true or false',
};
