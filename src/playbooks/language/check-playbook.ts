import type { TypeError as CelTypeError } from '@marcbachmann/cel-js';
import { actionType } from '../../action-catalogue/action-types.js';
import { type ActionParameter, parameterErrors } from '../../action-catalogue/parameters.js';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import { NAME } from '../playbook.dto.js';
import type { PlaybookDefinition, PlaybookStep } from '../playbook.js';
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

/** Maximum characters of the JSON of variables and steps together. All other fields have their own limits. */
const LONGEST_DEFINITION = 65_536;
const RESERVED = ['true', 'false', 'null', 'in'];
const NAME_IN_WORDS =
  'must have 1 to 63 small letters, digits and underscores, and begin with a letter; true, false, null and in are reserved';
const isName = (name: string) => NAME.test(name) && !RESERVED.includes(name);

type Playbook = Pick<PlaybookDefinition, 'variables' | 'steps'>;
type Fields = Readonly<Record<string, string>>;

const INCIDENT: Fields = {
  ...Object.fromEntries(INCIDENT_TEXTS.map((name) => [name, 'string'])),
  fields: 'map<string, dyn>',
  raw_data: 'map<string, dyn>',
  classification: 'string',
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
  if (value === null) return 'dyn';
  if (Array.isArray(value)) return 'list<dyn>';
  const types = { number: 'double', boolean: 'bool', object: 'map<string, dyn>' };
  return types[typeof value as keyof typeof types] ?? 'string';
}

type TypeOf = (tree: Node, position: number, isForPeople: boolean) => string;

function typesOf(variables: Playbook['variables'], steps: readonly string[]): TypeOf {
  const fields: Fields = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, typeOfJson(value)]),
  );
  const types = COMMON.clone()
    .registerType('Variables', { fields })
    .registerVariable('variables', 'Variables');
  const readable = { verdict: Object.keys(VERDICT), variables: Object.keys(fields) };
  // Only texts for people may contain the classification: elsewhere, the model's verdict could choose a target.
  const withoutVerdict = Object.keys(INCIDENT).filter((name) => name !== 'classification');
  return (tree, position, isForPeople) => {
    const incident = isForPeople ? Object.keys(INCIDENT) : withoutVerdict;
    checkFields(tree, { ...readable, incident, steps: steps.slice(0, position) });
    const { type, error } = types.check(tree.input);
    if (type !== undefined) return type;
    const { summary, node = tree } = error as CelTypeError;
    return fail(asSentence(summary), positionOf(node));
  };
}

/** Checks the names of fields. The library does not check names in has(), and does not know the order of the steps. */
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

export function checkPlaybook({ variables, steps }: Playbook): FieldError[] {
  if (JSON.stringify({ variables, steps }).length > LONGEST_DEFINITION) {
    const problem = `have at most ${LONGEST_DEFINITION} characters together, as JSON`;
    return [{ ...wrong('variables and steps', problem), field: '' }];
  }
  const wrongNames = Object.keys(variables).filter((name) => !isName(name));
  const errors = wrongNames.map((name) => wrong(`variables.${shownName(name)}`, NAME_IN_WORDS));
  if (errors.length === 0) {
    const names = steps.map(({ name }) => name);
    const typeOf = typesOf(variables, names);
    errors.push(...steps.flatMap((step, position) => stepErrors(step, position, names, typeOf)));
  }
  return errors.slice(0, MOST_ERRORS);
}

function wrong(field: string, problem: string): FieldError {
  return { field, code: 'playbook', message: `${field} ${problem}.` };
}

function stepErrors(
  { name, action, condition, parameters }: PlaybookStep,
  position: number,
  names: readonly string[],
  typeOf: TypeOf,
): FieldError[] {
  const errors: FieldError[] = [];
  const path = (field: string) => `steps.${position}.${field}`;
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

  if (!isName(name)) errors.push(wrong(path('name'), NAME_IN_WORDS));
  if (names.indexOf(name) < position) {
    errors.push(wrong(path('name'), 'is the name of an earlier step'));
  }
  if (condition !== undefined) {
    const written = { expression: condition, offset: 0 };
    attempt('condition', () => check(written, ROOTS, WANTED.condition));
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
    // `path` also works on the message, because the message begins with the name of the field.
    const error = { field: path(field), code: 'playbook', message: path(message) };
    if (!templated.has(field)) errors.push(error);
  }
  return errors;
}

/** Rule in words, and permitted types. `dyn` is always permitted: its type is known only when the playbook runs. */
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
