import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as classValidator from 'class-validator';
import { PARAMETER_FORMATS } from '../../src/action-catalogue/parameter-formats.js';
import { fieldErrorCodes } from '../support/field-error-codes.js';

const SOURCES = join(__dirname, '../../src');

const CODE = String.raw`'([a-z][a-z_0-9]*)'`;
const ARGUMENT = String.raw`\s*(?:'[^']*'|\`[^\`]*\`|[\w.!]+(?:\([^()]*\))?),\s*`;

/** How the code sets the code of a field error. */
const GIVEN = [
  new RegExp(String.raw`\bcode: ${CODE}`, 'g'),
  // Conversion of ajv errors.
  new RegExp(String.raw`\breturn \[${CODE},`, 'g'),
  new RegExp(String.raw`\breport\(\s*${CODE},`, 'g'),
  new RegExp(String.raw`\b(?:problem|error|ValidationError\.of)\(${ARGUMENT}${CODE},`, 'g'),
];
const RULE_OF_OURS = /\bValidateBy\(\s*\{\s*name: '(\w+)'/g;
const RULES_OF_THE_LIBRARY = /import \{([^}]*)\} from 'class-validator'/g;

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** class-validator exports the name of a rule beside its decorator: IS_IN for IsIn, IS_LENGTH for Length. */
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

describe('the field error codes in docs/api.md', () => {
  it('are exactly the codes that the source uses', () => {
    const made = [
      ...textsOf().flatMap(codesOf),
      ...PARAMETER_FORMATS.map((format) => `is_${format}`),
      // ValidateNested has no constant.
      'nested_validation',
    ];
    expect([...new Set(made)].sort()).toEqual([...fieldErrorCodes()].sort());
  });
});
