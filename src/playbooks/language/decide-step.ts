import { actionType, isActionType } from '../../action-catalogue/action-types.js';
import type { Parameters } from '../../actions/action.js';
import { parameterErrors } from '../../actions/requests/parameter-rules.js';
import { pointerTo } from '../../platform/json-pointer.js';
import { storable } from '../../platform/text.js';
import { Budget } from './evaluation/budget.js';
import { textOf } from './evaluation/conversions.js';
import { Interpreter } from './evaluation/interpreter.js';
import { Mismatch, needs, type Value } from './evaluation/values.js';
import { readExpression, ROOTS, type Root, TEMPLATE_ROOTS } from './expression.js';
import { ExpressionError } from './expression-error.js';
import type { PlaybookStep, Problem } from './playbook-definition.js';
import { type StepContext, valuesOf } from './step-context.js';
import { type Placeholder, readTemplate, soleOf } from './template.js';

export type StepDecision =
  | { readonly decision: 'run'; readonly parameters: Parameters }
  /** Its condition is not true. */
  | { readonly decision: 'skip' }
  /** The condition or a parameter has no value, or not one that the action may have. */
  | { readonly decision: 'fail'; readonly problem: Problem };

/**
 * Evaluates the condition and the parameters of one step. The same step and context always give the same decision, within a
 * cost that is bounded for all of the step.
 */
export function decideStep(step: PlaybookStep, context: StepContext): StepDecision {
  return new StepEvaluation(step, valuesOf(context)).decision();
}

/** Longer than any parameter may be. */
const LONGEST_PARAMETER = 8_192;

class StepEvaluation {
  private readonly interpreter = new Interpreter(new Budget());

  constructor(
    private readonly step: PlaybookStep,
    private readonly values: ReadonlyMap<Root, Value>,
  ) {}

  decision(): StepDecision {
    let field = '/condition';
    try {
      if (!this.applies()) return { decision: 'skip' };
      const parameters = Object.entries(this.step.parameters).map(([name, given]) => {
        field = pointerTo('/parameters', name);
        return [name, typeof given === 'string' ? this.filled(given) : given] as const;
      });
      return this.judged(Object.fromEntries(parameters.filter(([, value]) => value !== null)));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const position = { offset: error.offset };
      return { decision: 'fail', problem: { field, position, message: error.message } };
    }
  }

  private applies(): boolean {
    const { condition } = this.step;
    if (condition === undefined) return true;
    const value = this.value(condition, ROOTS);
    if (typeof value === 'boolean') return value;
    throw new ExpressionError(0, needs('true or false', value).message);
  }

  /** The value of a template; null leaves the parameter out. */
  private filled(text: string): string | number | null {
    const template = readTemplate(text);
    const sole = soleOf(template);
    if (sole) return this.placed(sole, whole);
    let filled = '';
    for (const part of template) {
      filled += typeof part === 'string' ? part : this.placed(part, textOf);
      if (filled.length > LONGEST_PARAMETER) throw tooLong();
    }
    return filled;
  }

  private placed<T>({ expression, offset }: Placeholder, convert: (value: Value) => T): T {
    try {
      return convert(this.value(expression, TEMPLATE_ROOTS));
    } catch (error) {
      if (error instanceof Mismatch) throw new ExpressionError(offset, error.message);
      throw error instanceof ExpressionError ? error.within(offset) : error;
    }
  }

  private value(text: string, roots: readonly Root[]): Value {
    const readable = new Map([...this.values].filter(([root]) => roots.includes(root)));
    return this.interpreter.value(readExpression(text, roots), readable);
  }

  private judged(parameters: Parameters): StepDecision {
    const { action } = this.step;
    if (!isActionType(action)) return failed('/action', 'There is no such type of action.');
    const [error] = parameterErrors(actionType(action), parameters);
    if (error) {
      const name = error.field.slice(error.field.indexOf('.') + 1);
      return failed(pointerTo('/parameters', name), error.message);
    }
    for (const [name, value] of Object.entries(parameters)) {
      if (typeof value !== 'string' || storable(value) === value) continue;
      const message = 'A NUL or half of a character is in this text.';
      return failed(pointerTo('/parameters', name), message);
    }
    return { decision: 'run', parameters };
  }
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

function failed(field: string, message: string): StepDecision {
  return { decision: 'fail', problem: { field, message } };
}
