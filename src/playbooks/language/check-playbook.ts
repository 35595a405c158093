import { TypeError as CelTypeError } from '@marcbachmann/cel-js';
import { actionType, isActionType } from '../../action-catalogue/action-types.js';
import { type ActionParameter, parameterErrors } from '../../action-catalogue/parameters.js';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import { type PlaybookDefinition, type WrittenStep } from '../playbook.js';
import { isName, LONGEST_DEFINITION, NAME_IN_WORDS } from '../limits.js';
import { INCIDENT_TEXTS } from './decide-step.js';
import {
  asSentence,
  childrenOf,
  ExpressionError,
  fail,
  fieldRead,
  isRoot,
  LANGUAGE,
  type Node,
  type Placeholder,
  placeholdersOf,
  positionOf,
  readTemplate,
  type Root,
  ROOTS,
  soleOf,
  TEMPLATE_ROOTS,
  withExpression,
} from './expression.js';

type Variables = PlaybookDefinition['variables'];
type Fields = Readonly<Record<string, string>>;

const INCIDENT_WITHOUT_VERDICT: Fields = {
  ...Object.fromEntries(INCIDENT_TEXTS.map((name) => [name, 'string'])),
  fields: 'map<string, dyn>',
  raw_data: 'map<string, dyn>',
};

/** Only texts for people can read the classification: elsewhere, the model that decided the verdict could choose a target. */
const INCIDENT: Fields = { ...INCIDENT_WITHOUT_VERDICT, classification: 'string' };

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
  if (value === null) return 'dyn';
  if (Array.isArray(value)) return 'list<dyn>';
  const types = { number: 'double', boolean: 'bool', object: 'map<string, dyn>' };
  return types[typeof value as keyof typeof types] ?? 'string';
}

type TypeOf = (tree: Node, position: number, isForPeople: boolean) => string;

function typesOf(variables: Variables, steps: readonly string[]): TypeOf {
  const fields: Fields = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, typeOfJson(value)]),
  );
  const types = COMMON.clone()
    .registerType('Variables', { fields })
    .registerVariable('variables', 'Variables');
  const readable = { verdict: Object.keys(VERDICT), variables: Object.keys(fields) };
  return (tree, position, isForPeople) => {
    const incident = isForPeople ? INCIDENT : INCIDENT_WITHOUT_VERDICT;
    const earlier = steps.slice(0, position);
    checkFields(tree, { ...readable, incident: Object.keys(incident), steps: earlier });
    const { type, error } = types.check(tree.input);
    if (type !== undefined) return type;
    if (!(error instanceof CelTypeError)) {
      throw new Error(
        'Internal error: the CEL library rejected an expression that it parsed before.',
      );
    }
    return fail(asSentence(error.summary), positionOf(error.node ?? tree));
  };
}

/** Checks fields, because the library does not check names in has() and does not know the order of steps. */
function checkFields(node: Node, readable: Readonly<Record<Root, readonly string[]>>): void {
  const read = fieldRead(node);
  if (read) {
    if (readable[read.root].includes(read.name)) return;
    const which = read.root === 'steps' ? 'the earlier steps' : read.root;
    fail(`There is no ${read.name} in ${which}.`, node.pos);
  }
  if (node.op === 'id' && isRoot(node.args)) {
    const root = node.args;
    fail(`Only single fields of ${root} can be read, such as ${root}.name.`, node.pos);
  }
  for (const child of childrenOf(node)) checkFields(child, readable);
}

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
  const wrongNames = Object.keys(variables).filter((name) => !isName(name));
  if (wrongNames.length > 0) {
    const fields = wrongNames.slice(0, MOST_ERRORS).map((name) => `variables.${shownName(name)}`);
    return fields.map((field) => wrong(field, `${field} ${NAME_IN_WORDS}.`));
  }
  const names = steps.map(({ name }) => name);
  const typeOf = typesOf(variables, names);
  return steps
    .flatMap((step, position) => stepErrors(step, position, names, typeOf))
    .slice(0, MOST_ERRORS);
}

function wrong(field: string, message: string): FieldError {
  return { field, code: 'playbook', message };
}

function stepErrors(
  { name, action, condition, parameters }: WrittenStep,
  position: number,
  names: readonly string[],
  typeOf: TypeOf,
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
  const check = (
    placeholder: Placeholder,
    roots: readonly Root[],
    [words, ...types]: Wanted,
    isForPeople = false,
  ) =>
    withExpression(placeholder, roots, (tree) => {
      const type = typeOf(tree, position, isForPeople);
      if (type !== 'dyn' && !types.includes(type)) fail(`${words}, not ${type}.`);
    });

  if (!isName(name)) add('name', NAME_IN_WORDS);
  if (names.indexOf(name) < position) add('name', 'is the name of an earlier step');
  if (condition !== undefined) {
    const written = { expression: condition, offset: 0 };
    attempt('condition', () => check(written, ROOTS, WANTED.condition));
  }
  if (!isActionType(action)) {
    add('action', `must be an action type; ${shownName(action)} is not known`);
    return errors;
  }
  const type = actionType(action);
  const templated = new Set<string>();
  for (const { name: key, type: wantedType, forPeople } of type.parameters) {
    const value = parameters[key];
    if (typeof value !== 'string' || !value.includes('{{')) continue;
    const field = `parameters.${key}`;
    templated.add(field);
    attempt(field, () => {
      const template = readTemplate(value);
      const sole = soleOf(template);
      if (!sole && wantedType !== 'string') {
        fail('This parameter is a number: write one {{ }} and nothing around it.');
      }
      const wanted = WANTED[sole ? wantedType : 'inText'];
      for (const one of placeholdersOf(template)) check(one, TEMPLATE_ROOTS, wanted, forPeople);
    });
  }
  for (const { field, message } of parameterErrors(type, parameters)) {
    // The sentence begins with the field.
    if (!templated.has(field)) errors.push(wrong(path(field), path(message)));
  }
  return errors;
}

/** Rule in words, and permitted types. `dyn` is always permitted, because its type is known only in the run. */
type Wanted = readonly [words: string, ...types: string[]];

const WANTED: Readonly<Record<ActionParameter['type'] | 'condition' | 'inText', Wanted>> = {
  condition: ['A condition must be true or false', 'bool'],
  string: ['This parameter must be a text', 'string'],
  integer: ['This parameter must be a whole number', 'int', 'double'],
  inText: [
    'A template within a text must be a text, a number, or true or false',
    ...['string', 'int', 'double', 'bool'],
  ],
};
