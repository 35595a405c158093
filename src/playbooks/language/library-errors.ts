import type { ParseError, TypeError } from '@marcbachmann/cel-js';
import { shownName } from '../../platform/text.js';
import { incomparable } from './evaluation/operators.js';
import { NO_PATH } from './evaluation/functions.js';
import { asSubject, typeInWords } from './evaluation/values.js';

/*
 * What the library says of an expression, in our own sentences: its messages are for who knows its tokens and types. What is
 * needed of a message is read out of it, because it tells types and tokens nowhere else.
 */

const NO_NUMBER = 'This is no number.';
const NO_END = 'Nothing ends this text in quotes.';
const NO_ESCAPE = 'A text in quotes has no such character after a \\.';

const SYNTAX: Readonly<Record<string, string>> = {
  invalid_number: NO_NUMBER,
  invalid_integer: NO_NUMBER,
  invalid_hex_integer: NO_NUMBER,
  invalid_exponent: NO_NUMBER,
  newline_in_string: 'A text in quotes ends on the line on which it begins.',
  unterminated_string: NO_END,
  unterminated_triple_quoted_string: NO_END,
  invalid_unicode_escape: NO_ESCAPE,
  invalid_unicode_surrogate: NO_ESCAPE,
  invalid_hex_escape: NO_ESCAPE,
  invalid_octal_escape: NO_ESCAPE,
  octal_escape_out_of_range: NO_ESCAPE,
  invalid_escape_sequence: NO_ESCAPE,
  bytes_unicode_escape: NO_ESCAPE,
  reserved_identifier: 'This word is reserved.',
  invalid_macro_argument: 'The first thing in these brackets has to be a name.',
};

const LIMITS: Readonly<Record<string, (most: string) => string>> = {
  maxAstNodes: (most) => `An expression has at most ${most} parts.`,
  maxDepth: (most) => `An expression is at most ${most} levels deep.`,
  maxCallArguments: (most) => `A function takes at most ${most} operands.`,
  maxListElements: (most) => `A list that is written out has at most ${most} items.`,
  maxMapEntries: (most) => `An object that is written out has at most ${most} keys.`,
};

/** The tokens that the library may miss. */
const MISSING: Readonly<Record<string, string>> = {
  RPAREN: ')',
  RBRACKET: ']',
  RBRACE: '}',
  COLON: ':',
  IDENTIFIER: 'a name',
};

/** Why the text cannot be read. */
export function syntaxProblem(
  { code, summary, range }: Pick<ParseError, 'code' | 'summary' | 'range'>,
  text: string,
): string {
  const [, limit = '', most = ''] = /^Exceeded (\w+) \((\d+)\)/.exec(summary) ?? [];
  const exceeded = LIMITS[limit];
  if (exceeded) return exceeded(most);
  const missing = MISSING[/^Expected (\w+)/.exec(summary)?.[1] ?? ''];
  if (missing !== undefined) return `Here has to be ${missing}.`;
  const at = range?.start ?? 0;
  return (
    SYNTAX[code] ?? (at < text.length ? goesOnWith(text, at) : 'The expression ends too early.')
  );
}

function goesOnWith(text: string, at: number): string {
  const word = /^\w+/.exec(text.slice(at))?.[0] ?? String.fromCodePoint(text.codePointAt(at)!);
  return `The expression cannot go on with ${shownName(word)} here.`;
}

/** Why the types of what the expression reads and builds do not fit. */
export function typeProblem({
  code,
  summary,
  node,
}: Pick<TypeError, 'code' | 'summary' | 'node'>): string {
  const [one = '', other] = quotedIn(summary).map(typeInWords);
  switch (code) {
    case 'no_such_overload':
      return operandProblem(summary.slice(summary.indexOf(':') + 2), node?.op ?? '');
    case 'no_matching_overload':
      return callProblem(summary);
    case 'invalid_condition_type':
    case 'invalid_logical_operand':
      return `This takes true or false, and here is ${one}.`;
    case 'incompatible_ternary_branches':
      return `Both values of ? : are of one type, and here are ${one} and ${other}.`;
    case 'invalid_comprehension_range':
      return `This takes a list or an object, and here is ${one}.`;
    case 'invalid_index_type':
      return other === undefined
        ? `A list is read by a whole number, and here is ${one}.`
        : `An object is read by a text, and here is ${other}.`;
    case 'cannot_index_type':
      return `There are no fields in ${one}.`;
    case 'no_such_key':
      return `There is no ${shownName(summary.slice(summary.indexOf(':') + 2))} here.`;
    case 'invalid_macro_argument':
      return NO_PATH;
    default:
      return 'The types do not fit here.';
  }
}

function quotedIn(summary: string): string[] {
  return [...summary.matchAll(/'([^']*)'/g)].map(([, type]) => type!);
}

/** Of `string > int`, or of `-string`. */
function operandProblem(found: string, operator: string): string {
  const [left = '', right] = found.split(` ${operator} `);
  if (right === undefined) {
    const only = typeInWords(found.slice(1));
    return operator === '!_'
      ? `This takes true or false, and here is ${only}.`
      : `There is no negative of ${only}.`;
  }
  const [one, other] = [typeInWords(left), typeInWords(right)];
  switch (operator) {
    case '==':
    case '!=':
      return one === other
        ? `These are never equal: what is in ${one} and in the other one is of different types.`
        : `${asSubject(one)} and ${other} are never equal.`;
    case '<':
    case '<=':
    case '>':
    case '>=':
      return incomparable(one, other);
    case 'in':
      return other === 'a list' || other === 'an object'
        ? `There is never ${one} in this: it has values of another type.`
        : `Nothing is in ${other}.`;
    default:
      return `There is no ${operator} of ${one} and ${other}.`;
  }
}

/** Of `found no matching overload for 'string.contains(int)'`. */
function callProblem(summary: string): string {
  const call = /'(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(withoutTypesOfItems(summary));
  const [, receiver = '', name, given = ''] = call ?? [];
  const words = [receiver, ...given.split(', ')].filter((type) => type !== '').map(typeInWords);
  const here = words.length > 1 ? `are ${words.join(' and ')}` : `is ${words[0] ?? 'nothing'}`;
  return `The operands of ${name}() do not fit: here ${here}.`;
}

function withoutTypesOfItems(types: string): string {
  const shorter = types.replace(/<[^<>]*>/g, '');
  return shorter === types ? types : withoutTypesOfItems(shorter);
}
