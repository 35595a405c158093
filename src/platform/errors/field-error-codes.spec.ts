import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as classValidator from 'class-validator';
import { PARAMETER_FORMATS } from '../../action-catalogue/parameter-formats.js';
import { FIELD_ERROR_CODES } from './field-error-codes.js';

const SOURCES = join(__dirname, '..', '..');

const CODE = String.raw`'([a-z][a-z_0-9]*)'`;
const ARGUMENT = String.raw`\s*(?:'[^']*'|\`[^\`]*\`|[\w.!]+(?:\([^()]*\))?),\s*`;

/** How our code gives an error of a field its code. */
const GIVEN = [
  new RegExp(String.raw`\bcode: ${CODE}`, 'g'),
  // As ajv's errors are put into our words.
  new RegExp(String.raw`\breturn \[${CODE},`, 'g'),
  new RegExp(String.raw`\breport\(\s*${CODE},`, 'g'),
  new RegExp(String.raw`\b(?:problem|error|ValidationError\.of)\(${ARGUMENT}${CODE},`, 'g'),
];
const RULE_OF_OURS = /\bValidateBy\(\s*\{\s*name: '(\w+)'/g;
const RULES_OF_THE_LIBRARY = /import \{([^}]*)\} from 'class-validator'/g;

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** class-validator keeps the name of a rule beside its decorator: IS_IN for IsIn, IS_LENGTH for Length. */
function ruleOf(decorator: string): string[] {
  const constant = decorator.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
  const names = classValidator as unknown as Readonly<Record<string, unknown>>;
  const rule = names[constant] ?? names[`IS_${constant}`];
  return typeof rule === 'string' ? [rule] : [];
}

function textsOf(): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => readFileSync(join(SOURCES, name), 'utf8'));
}

function codesOf(text: string): string[] {
  const ofLibrary = [...text.matchAll(RULES_OF_THE_LIBRARY)]
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()))
    .flatMap(ruleOf);
  const ofOurs = [...text.matchAll(RULE_OF_OURS)].map(([, name = '']) => name);
  const given = /FieldError|ValidationError|WeakPasswordError/.test(text) ? GIVEN : [];
  return [
    ...[...ofLibrary, ...ofOurs].map(snakeCase),
    ...given.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code = '']) => code)),
  ];
}

describe('The codes of wrong fields', () => {
  it('are those that the code gives, no more and no fewer', () => {
    const made = [
      ...textsOf().flatMap(codesOf),
      ...PARAMETER_FORMATS.map((format) => `is_${format}`),
      // Of ValidateNested, whose rule has no constant.
      'nested_validation',
    ];
    expect([...new Set(made)].sort()).toEqual(Object.keys(FIELD_ERROR_CODES).sort());
  });
});
