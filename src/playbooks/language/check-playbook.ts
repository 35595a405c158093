import { actionType, isActionType } from '../../action-catalogue/action-types.js';
import { type ActionParameter, parameterErrors } from '../../action-catalogue/parameters.js';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import { ExpressionError, readExpression, type Root, ROOTS, TEMPLATE_ROOTS } from './expression.js';
import { ExpressionTypes } from './expression-types.js';
import {
  isName,
  LONGEST_DEFINITION,
  MOST_STEPS,
  NAME_IN_WORDS,
  type WrittenPlaybook,
  type WrittenStep,
} from './playbook-definition.js';
import { type Placeholder, placeholdersOf, readTemplate, soleOf } from './template.js';

/** Returns the problems of a playbook; none if it can be saved. */
export function checkPlaybook({ variables, steps }: WrittenPlaybook): FieldError[] {
  if (JSON.stringify({ variables, steps }).length > LONGEST_DEFINITION) {
    const message = `variables and steps have at most ${LONGEST_DEFINITION} characters together, as JSON.`;
    return [wrong('', message)];
  }
  if (steps.length > MOST_STEPS) {
    return [wrong('steps', `steps must have at most ${MOST_STEPS} items.`)];
  }
  const wrongNames = Object.keys(variables).filter((name) => !isName(name));
  if (wrongNames.length > 0) return wrongNames.slice(0, MOST_ERRORS).map(wrongVariable);
  const types = new ExpressionTypes(variables);
  const names = steps.map(({ name }) => name);
  return steps
    .flatMap((step, position) => new StepCheck(step, position, names, types).errors())
    .slice(0, MOST_ERRORS);
}

function wrongVariable(name: string): FieldError {
  const field = `variables.${shownName(name)}`;
  return wrong(field, `${field} ${NAME_IN_WORDS}.`);
}

function wrong(field: string, message: string): FieldError {
  return { field, code: 'playbook', message };
}

class StepCheck {
  private readonly found: FieldError[] = [];

  constructor(
    private readonly step: WrittenStep,
    private readonly position: number,
    private readonly names: readonly string[],
    private readonly types: ExpressionTypes,
  ) {}

  errors(): FieldError[] {
    this.checkName();
    this.checkCondition();
    this.checkParameters();
    return this.found;
  }

  private checkName(): void {
    const { name } = this.step;
    if (!isName(name)) this.add('name', NAME_IN_WORDS);
    if (this.names.indexOf(name) < this.position)
      this.add('name', 'is the name of an earlier step');
  }

  private checkCondition(): void {
    const { condition } = this.step;
    if (condition === undefined) return;
    this.attempt('condition', () => this.checkExpression(condition, ROOTS, WANTED_OF_CONDITION));
  }

  private checkParameters(): void {
    const { action, parameters } = this.step;
    if (!isActionType(action)) {
      this.add('action', `must be an action type; ${shownName(action)} is not known`);
      return;
    }
    const type = actionType(action);
    const templated = new Set<string>();
    for (const [name, value] of Object.entries(parameters)) {
      const parameter = type.parameters.find((known) => known.name === name);
      if (!parameter || typeof value !== 'string' || !value.includes('{{')) continue;
      const field = `parameters.${name}`;
      templated.add(field);
      this.attempt(field, () => this.checkTemplate(value, parameter));
    }
    for (const { field, message } of parameterErrors(type, parameters)) {
      // The sentence begins with the field.
      if (!templated.has(field)) this.found.push(wrong(this.path(field), this.path(message)));
    }
  }

  private checkTemplate(text: string, parameter: ActionParameter): void {
    const template = readTemplate(text);
    const sole = soleOf(template);
    if (!sole && parameter.type !== 'string') {
      const problem = 'This parameter is a number: write one {{ }} and nothing around it.';
      throw new ExpressionError(0, problem);
    }
    const ofText = sole ? WANTED[parameter.type] : WANTED_IN_TEXT;
    const wanted = { ...ofText, isForPeople: parameter.forPeople };
    for (const placeholder of placeholdersOf(template)) this.checkPlaceholder(placeholder, wanted);
  }

  private checkPlaceholder({ expression, offset }: Placeholder, wanted: Wanted): void {
    try {
      this.checkExpression(expression, TEMPLATE_ROOTS, wanted);
    } catch (error) {
      throw error instanceof ExpressionError ? error.within(offset) : error;
    }
  }

  private checkExpression(text: string, roots: readonly Root[], wanted: Wanted): void {
    const tree = readExpression(text, roots);
    const type = this.types.typeOf(tree, this.names, this.position, wanted.isForPeople);
    if (type === 'dyn' || wanted.types.includes(type)) return;
    throw new ExpressionError(tree.start, `${wanted.words}, not ${type}.`);
  }

  private attempt(field: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.found.push(error.inField(this.path(field)));
    }
  }

  private add(field: string, problem: string): void {
    this.found.push(wrong(this.path(field), `${this.path(field)} ${problem}.`));
  }

  private path(field: string): string {
    return `steps.${this.position}.${field}`;
  }
}

/** Permitted types. `dyn` is always permitted, because its type is known only in the run. */
interface Wanted {
  readonly types: readonly string[];
  readonly words: string;
  readonly isForPeople?: boolean;
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
