import { Environment, TypeError as CelTypeError } from '@marcbachmann/cel-js';
import { DECLARATIONS } from './functions.js';
import {
  asSentence,
  CEL_OPTIONS,
  childrenOf,
  ExpressionError,
  fieldRead,
  isRoot,
  type Node,
  nodesOf,
  positionOf,
  type Root,
} from './expression.js';

type Fields = Readonly<Record<string, string>>;

/** Readable only in texts for people: elsewhere a model could choose the action. */
const CLASSIFICATION = 'classification';

/** The incident of the API, with the classification of its verdict. Other fields of the verdict are only in `verdict`. */
const INCIDENT: Fields = {
  [CLASSIFICATION]: 'string',
  id: 'string',
  incident_number: 'string',
  incident_type: 'string',
  severity: 'string',
  status: 'string',
  source: 'string',
  title: 'string',
  fields: 'map<string, dyn>',
  raw_data: 'map<string, dyn>',
  resolution: 'string',
  created_at: 'string',
  updated_at: 'string',
  triaged_at: 'string',
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

/** Numbers from JSON are double, and whole numbers in expressions are int. Expressions can mix them. */
const MIXED = [
  'int == double: bool',
  ...['+', '-', '*', '/', '%'].flatMap(mixed),
  'double % double: double',
];

function mixed(operator: string): string[] {
  return [`int ${operator} double: double`, `double ${operator} int: double`];
}

const WITH_OPERATORS = MIXED.reduce(
  (types, signature) => types.registerOperator(signature, notEvaluated),
  new Environment(CEL_OPTIONS),
);

const COMMON = DECLARATIONS.reduce(
  (types, signature) => types.registerFunction(signature, notEvaluated),
  WITH_OPERATORS,
)
  .registerType('Incident', { fields: INCIDENT })
  .registerType('Verdict', { fields: VERDICT })
  .registerType('Result', { fields: RESULT })
  .registerType('Step', { fields: { result: 'Result' } })
  .registerVariable('incident', 'Incident')
  .registerVariable('verdict', 'Verdict')
  .registerVariable('steps', 'map<string, Step>');

function notEvaluated(): never {
  throw new Error('The library only reads and checks expressions; Interpreter evaluates them.');
}

/** Types of the values that the expressions of one playbook can read. */
export class ExpressionTypes {
  private readonly types: Environment;
  private readonly fields: Readonly<Record<Exclude<Root, 'steps'>, Fields>>;

  constructor(variables: Readonly<Record<string, unknown>>) {
    const ofVariables = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, typeOfJson(value)]),
    );
    this.fields = { incident: INCIDENT, verdict: VERDICT, variables: ofVariables };
    this.types = COMMON.clone()
      .registerType('Variables', { fields: ofVariables })
      .registerVariable('variables', 'Variables');
  }

  /**
   * Returns the library's name of the type of an expression in the step at this position of `names`. Throws ExpressionError if
   * types do not match.
   */
  typeOf(tree: Node, names: readonly string[], position: number, isForPeople = false): string {
    if (!isForPeople) refuseClassification(tree);
    this.checkFields(tree, names, position);
    const { type, error } = this.types.check(tree.input);
    if (type !== undefined) return type;
    if (!(error instanceof CelTypeError)) throw new Error('The library read this before.');
    throw new ExpressionError(positionOf(error.node ?? tree), typeProblem(error.summary));
  }

  /** The library does not check names in has() and does not know the order of steps. */
  private checkFields(node: Node, names: readonly string[], position: number): void {
    const read = fieldRead(node);
    if (!read) {
      if (node.op === 'id') this.refuseWhole(node);
      for (const child of childrenOf(node)) this.checkFields(child, names, position);
      return;
    }
    const { root, name } = read;
    const problem =
      root === 'steps'
        ? stepProblem(name, names, position)
        : Object.hasOwn(this.fields[root], name)
          ? undefined
          : `There is no ${name} in ${root}.`;
    if (problem !== undefined) throw new ExpressionError(node.pos, problem);
  }

  private refuseWhole(node: Extract<Node, { op: 'id' }>): void {
    if (!isRoot(node.args)) return;
    const problem = `Only single fields of ${node.args} can be read, such as ${node.args}.name.`;
    throw new ExpressionError(node.pos, problem);
  }
}

function refuseClassification(tree: Node): void {
  const read = nodesOf(tree).find(readsClassification);
  if (!read) return;
  const problem =
    'Only texts for people can read incident.classification. A condition can read verdict.classification.';
  throw new ExpressionError(read.pos, problem);
}

/** Whether the node reads the classification, which texts for people can contain. */
export function readsClassification(node: Node): boolean {
  const read = fieldRead(node);
  return read?.root === 'incident' && read.name === CLASSIFICATION;
}

/** Returns why the step at the position cannot read this step; `undefined` if it can. */
function stepProblem(name: string, names: readonly string[], position: number): string | undefined {
  const at = names.indexOf(name);
  if (at >= 0 && at < position) return undefined;
  if (at === position) return `The step ${name} cannot read what it comes to itself.`;
  return at < 0
    ? `There is no step ${name}.`
    : `The step ${name} comes later: only earlier ones can be read.`;
}

/** Returns the message of the library as a sentence. */
function typeProblem(summary: string): string {
  return asSentence(
    summary
      .replace(/^no such overload:/, 'there is no operation')
      .replace(/^found no matching overload for/, 'there is no function'),
  );
}

/** Returns the type of a JSON value. */
function typeOfJson(value: unknown): string {
  if (value === null) return 'dyn';
  if (Array.isArray(value)) return 'list<dyn>';
  return SCALARS[typeof value] ?? 'map<string, dyn>';
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'double',
  boolean: 'bool',
};
