import { actionType, isActionType } from '../../action-catalogue/action-types.js';
import type { Parameters } from '../../actions/action.js';
import { parameterErrors } from '../../action-catalogue/parameters.js';
import { defangForPeople } from '../../incidents/defang.js';
import { storable } from '../../platform/text.js';
import {
  ExpressionError,
  isRaw,
  type Node,
  readExpression,
  ROOTS,
  TEMPLATE_ROOTS,
} from './expression.js';
import { textOf } from './functions.js';
import { Interpreter } from './interpreter.js';
import type { WrittenStep } from './playbook-definition.js';
import type { Values } from './step-context.js';
import { type Placeholder, readTemplate, soleOf } from './template.js';
import { asTruth, Budget, type Members, Mismatch, needs, type Value } from './values.js';

/** Decision about a step. */
export type Decision =
  | { readonly kind: 'run'; readonly parameters: Parameters }
  /** The condition is false. */
  | { readonly kind: 'skip' }
  /** The condition or a parameter has no value, or a value that the action rejects. */
  | { readonly kind: 'error'; readonly message: string };

/**
 * Evaluates the condition and the parameters of the step at this position. The same steps and values always give the same
 * decision, within a cost that is bounded for the step, and for all steps together.
 */
export function decideStep(
  steps: readonly WrittenStep[],
  position: number,
  values: Values,
): Decision {
  const interpreter = new Interpreter(Budget.forOneOf(steps.length));
  return new StepEvaluation(steps[position]!, `steps.${position}`, values, interpreter).decision();
}

/** Longer than the longest parameter. */
const LONGEST_PARAMETER = 8_192;

class StepEvaluation {
  constructor(
    private readonly step: WrittenStep,
    /** Path of the field in requests. */
    private readonly path: string,
    private readonly values: Values,
    private readonly interpreter: Interpreter,
  ) {}

  decision(): Decision {
    let field = `${this.path}.condition`;
    try {
      if (!this.applies()) return { kind: 'skip' };
      const parameters = Object.entries(this.step.parameters).map(([name, given]) => {
        field = `${this.path}.parameters.${name}`;
        return [name, typeof given === 'string' ? this.filled(given, name) : given] as const;
      });
      return this.judged(Object.fromEntries(parameters.filter(([, value]) => value !== null)));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return { kind: 'error', message: error.inField(field).message };
    }
  }

  private applies(): boolean {
    const { condition } = this.step;
    if (condition === undefined) return true;
    return this.value(readExpression(condition, ROOTS), this.values, asTruth);
  }

  /** The value of a template; null leaves the parameter out. */
  private filled(text: string, parameter: string): string | number | null {
    const isForPeople = this.isForPeople(parameter);
    const values = isForPeople ? withClassification(this.values) : this.values;
    const shown = isForPeople ? defangForPeople : (value: string) => value;
    const template = readTemplate(text);
    const sole = soleOf(template);
    if (sole) {
      const { value, raw } = this.placed(sole, values, whole);
      return typeof value === 'string' && !raw ? shown(value) : value;
    }
    let filled = '';
    // Adjacent placeholders may form one address.
    let foreign = '';
    for (const part of template) {
      const { value, raw } =
        typeof part === 'string' ? { value: part, raw: true } : this.placed(part, values, textOf);
      if (raw) filled += shown(foreign) + value;
      foreign = raw ? '' : foreign + value;
      if (filled.length + foreign.length > LONGEST_PARAMETER) throw tooLong();
    }
    return filled + shown(foreign);
  }

  private isForPeople(parameter: string): boolean {
    const { action } = this.step;
    if (!isActionType(action)) return false;
    return actionType(action).parameters.some(
      ({ name, forPeople }) => forPeople && name === parameter,
    );
  }

  private placed<T>(
    { expression, offset }: Placeholder,
    values: Values,
    convert: (value: Value) => T,
  ): { readonly value: T; readonly raw: boolean } {
    try {
      const tree = readExpression(expression, TEMPLATE_ROOTS);
      const readable = new Map([...values].filter(([root]) => TEMPLATE_ROOTS.includes(root)));
      return { value: this.value(tree, readable, convert), raw: isRaw(tree) };
    } catch (error) {
      throw error instanceof ExpressionError ? error.within(offset) : error;
    }
  }

  private value<T>(tree: Node, readable: Values, convert: (value: Value) => T): T {
    try {
      return convert(this.interpreter.value(tree, readable));
    } catch (error) {
      throw error instanceof Mismatch ? new ExpressionError(tree.start, error.message) : error;
    }
  }

  private judged(parameters: Parameters): Decision {
    const { action } = this.step;
    if (!isActionType(action)) return this.failed('action', 'is not a known action type.');
    const [error] = parameterErrors(actionType(action), parameters);
    if (error) return { kind: 'error', message: `${this.path}.${error.message}` };
    const broken = Object.entries(parameters).find(
      ([, value]) => typeof value === 'string' && storable(value) !== value,
    );
    return broken
      ? this.failed(`parameters.${broken[0]}`, 'must have no NUL and no half of a character.')
      : { kind: 'run', parameters };
  }

  private failed(field: string, problem: string): Decision {
    return { kind: 'error', message: `${this.path}.${field} ${problem}` };
  }
}

/** A template cannot read the verdict, except its classification in texts for people, which chooses no target and no step. */
function withClassification(values: Values): Values {
  const { classification } = values.get('verdict') as Members;
  const incident = values.get('incident') as Members;
  if (classification === undefined) return values;
  return new Map(values).set('incident', { ...incident, classification });
}

function whole(value: Value): string | number | null {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  throw needs('a text or a number', value);
}

function tooLong(): ExpressionError {
  return new ExpressionError(
    0,
    `With its values this has more than ${LONGEST_PARAMETER} characters.`,
  );
}
