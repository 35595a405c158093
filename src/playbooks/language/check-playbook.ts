import {
  actionType,
  type ActionParameter,
  isActionType,
} from '../../action-catalogue/action-types.js';
import { parameterErrors } from '../../actions/requests/parameter-rules.js';
import { MOST_ERRORS } from '../../platform/errors/app-error.js';
import { pointerTo } from '../../platform/json-pointer.js';
import { shownName } from '../../platform/text.js';
import { readExpression, ROOTS, type Root, TEMPLATE_ROOTS } from './expression.js';
import { ExpressionError } from './expression-error.js';
import { ExpressionTypes, typeOfJson } from './expression-types.js';
import { LONGEST_DEFINITION, MOST_STEPS } from './limits.js';
import { isName, NAME_IN_WORDS } from './names.js';
import type { PlaybookDefinition, PlaybookStep, Problem } from './playbook-definition.js';
import { type Placeholder, placeholdersOf, readTemplate, soleOf } from './template.js';

/** What has to be mended before the playbook may be saved; nothing when it is right. */
export function checkPlaybook({ variables, steps }: PlaybookDefinition): Problem[] {
  if (JSON.stringify({ variables, steps }).length > LONGEST_DEFINITION) {
    return [
      { field: '', message: `A playbook has at most ${LONGEST_DEFINITION} characters as JSON.` },
    ];
  }
  if (steps.length > MOST_STEPS) {
    return [{ field: '/steps', message: `A playbook has at most ${MOST_STEPS} steps.` }];
  }
  const wrongNames = Object.keys(variables).filter((name) => !isName(name));
  if (wrongNames.length > 0) return wrongNames.slice(0, MOST_ERRORS).map(wrongVariable);
  const types = new ExpressionTypes(variables);
  const names = steps.map(({ name }) => name);
  return steps
    .flatMap((step, index) => new StepCheck(step, index, names, types).problems())
    .slice(0, MOST_ERRORS);
}

/** What is wrong with the variables that a run is given: they take the place of those of the playbook. */
export function checkVariables(
  variables: PlaybookDefinition['variables'],
  given: PlaybookDefinition['variables'],
): Problem[] {
  return Object.entries(given)
    .filter(([name, value]) => !Object.hasOwn(variables, name) || !fits(value, variables[name]))
    .slice(0, MOST_ERRORS)
    .map(([name]) => {
      const field = pointerTo('/variables', shownName(name));
      const known = Object.hasOwn(variables, name);
      const problem = known
        ? 'is of another type in the playbook'
        : 'is no variable of the playbook';
      return { field, message: `${shownName(name)} ${problem}.` };
    });
}

function fits(value: unknown, example: unknown): boolean {
  return example === null || typeOfJson(value) === typeOfJson(example);
}

function wrongVariable(name: string): Problem {
  const field = pointerTo('/variables', shownName(name));
  return { field, message: `The name of a variable is ${NAME_IN_WORDS}.` };
}

class StepCheck {
  private readonly found: Problem[] = [];
  private readonly earlier: readonly string[];

  constructor(
    private readonly step: PlaybookStep,
    private readonly index: number,
    names: readonly string[],
    private readonly types: ExpressionTypes,
  ) {
    this.earlier = names.slice(0, index);
  }

  problems(): Problem[] {
    this.checkName();
    this.checkCondition();
    this.checkParameters();
    return this.found;
  }

  private checkName(): void {
    const { name } = this.step;
    if (!isName(name)) this.add('/name', `The name of a step is ${NAME_IN_WORDS}.`);
    if (this.earlier.includes(name)) this.add('/name', 'An earlier step has this name.');
  }

  private checkCondition(): void {
    const { condition } = this.step;
    if (condition === undefined) return;
    this.attempt('/condition', () => {
      const type = this.typeOf(condition, ROOTS);
      if (type === 'bool' || type === 'dyn') return;
      throw new ExpressionError(0, `A condition is true or false, and this is of type ${type}.`);
    });
  }

  private checkParameters(): void {
    const { action, parameters } = this.step;
    if (!isActionType(action)) {
      this.add('/action', `There is no type of action ${shownName(action)}.`);
      return;
    }
    const type = actionType(action);
    const templated = new Set<string>();
    for (const [name, value] of Object.entries(parameters)) {
      const parameter = type.parameters.find((known) => known.name === name);
      if (!parameter || typeof value !== 'string' || !value.includes('{{')) continue;
      templated.add(name);
      this.attempt(pointerTo('/parameters', name), () => this.checkTemplate(value, parameter));
    }
    for (const { field, message } of parameterErrors(type, parameters)) {
      const name = field.slice(field.indexOf('.') + 1);
      if (!templated.has(name)) this.add(pointerTo('/parameters', name), message);
    }
  }

  private checkTemplate(text: string, parameter: ActionParameter): void {
    const template = readTemplate(text);
    const sole = soleOf(template);
    if (!sole && parameter.type !== 'string') {
      throw new ExpressionError(0, 'A number is one expression in {{ }} with nothing around it.');
    }
    const wanted = sole ? WANTED[parameter.type] : WANTED_IN_TEXT;
    for (const placeholder of placeholdersOf(template)) this.checkPlaceholder(placeholder, wanted);
  }

  private checkPlaceholder({ expression, offset }: Placeholder, wanted: Wanted): void {
    try {
      const type = this.typeOf(expression, TEMPLATE_ROOTS);
      if (wanted.types.includes(type)) return;
      throw new ExpressionError(0, `${wanted.words}, and this is of type ${type}.`);
    } catch (error) {
      throw error instanceof ExpressionError ? error.within(offset) : error;
    }
  }

  private typeOf(text: string, roots: readonly Root[]): string {
    return this.types.typeOf(text, readExpression(text, roots), this.earlier);
  }

  private attempt(field: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const position = { offset: error.offset };
      this.found.push({ step: this.index, field, position, message: error.message });
    }
  }

  private add(field: string, message: string): void {
    this.found.push({ step: this.index, field, message });
  }
}

interface Wanted {
  readonly types: readonly string[];
  readonly words: string;
}

const WANTED: Readonly<Record<ActionParameter['type'], Wanted>> = {
  string: { types: ['string', 'dyn'], words: 'This parameter is a text' },
  integer: { types: ['int', 'double', 'dyn'], words: 'This parameter is a whole number' },
};
const WANTED_IN_TEXT: Wanted = {
  types: ['string', 'int', 'double', 'bool', 'dyn'],
  words: 'Into a text can be put a text, a number, or true or false',
};
