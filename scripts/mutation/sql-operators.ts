import type { Edit } from './mutant.ts';

const WORDS = /\b(select|update|insert into|delete from|where|and|for update|for share)\b/;
/** Texts for people may hold such words, too. */
const SIGNS = /\$\d|\$\{|=|<|\bnull\b|\bfor (update|share|no key update)\b/;

export function isSql(text: string): boolean {
  return WORDS.test(text) && SIGNS.test(text) && !/^[A-Z]/.test(text.trim());
}

/** Faults of a statement, or of a part of one: each is one that PostgreSQL takes, and that changes which rows it is about. */
export function sqlEdits(text: string): Edit[] {
  return [
    ...comparisons(text),
    ...droppedConditions(text),
    ...each(text, /\bis (not )?null\b/g, 'null', ([, not]) => (not ? 'is null' : 'is not null')),
    ...each(text, /\b(and|where|or) not (?=[a-z])/g, 'negation', ([, word]) => `${word} `),
    ...each(
      text,
      /\s+for (no key )?(update|share)( of [a-z_]+)?( skip locked| nowait)?/g,
      'no lock',
      () => '',
    ),
    ...each(text, /\s+skip locked\b/g, 'waits for a lock', () => ''),
    ...each(text, /\blimit \$\d+/g, 'no limit', () => ''),
    ...each(text, /\border by (?:[a-z_.]+)( desc)?/g, 'order', (found) =>
      found[1] ? found[0].slice(0, -5) : `${found[0]} desc`,
    ),
  ];
}

const SWAPPED: Readonly<Record<string, string>> = {
  '=': '>=',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '<>': '=',
};

function comparisons(text: string): Edit[] {
  return [...text.matchAll(/(?<=\s)(=|<=|>=|<>|<|>)(?=\s)/g)]
    .filter(({ index }) => isCondition(text, index))
    .map((found) => at(found, 'comparison', SWAPPED[found[0]]!));
}

/** An equals sign after `set`, or after a `case` there, is an assignment; a part of a statement that nothing comes before is one unless it has an `and`. */
function isCondition(text: string, index: number): boolean {
  const before = [...text.slice(0, index).matchAll(/\b(set|where|and|or|on|when|having|end)\b/g)];
  const last = before.at(-1)?.[0];
  if (last === undefined) return /^[^,]*?\band\b/.test(text.slice(index));
  return last !== 'set' && last !== 'end';
}

/** What ends a condition that stands on the same level as it begins. */
const END =
  /^\s*(\band\b|\bor\b|\border by\b|\bgroup by\b|\blimit\b|\breturning\b|\bfor (update|share|no)\b|\bthen\b|\bwhere\b|\bjoin\b|\bleft join\b|\$\{RETURNING\}|\bunion\b|\)|,|;|$)/;

function droppedConditions(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const found of text.matchAll(/\b(and|where|on)\s+/g)) {
    const start = found.index + found[0].length;
    const end = endOfCondition(text, start);
    if (end === undefined || /^between\b/.test(wordBefore(text, found.index))) continue;
    if (found[1] === 'and') {
      edits.push({ operator: 'sql: dropped condition', start: found.index, end, replacement: '' });
    } else if (/^\s*and\b/.test(text.slice(end))) {
      edits.push({ operator: 'sql: dropped condition', start, end, replacement: 'true' });
    }
  }
  const first = endOfCondition(text, 0);
  if (first !== undefined && /^\s*and\b/.test(text.slice(first)) && isPlain(text.slice(0, first))) {
    edits.push({ operator: 'sql: dropped condition', start: 0, end: first, replacement: 'true' });
  }
  return edits;
}

/** A part of a statement that begins with a condition. */
function isPlain(text: string): boolean {
  return !/\b(select|update|insert|delete|with|from|join|set|where)\b/.test(text);
}

function wordBefore(text: string, index: number): string {
  return /\bbetween\s+\S+\s*$/.test(text.slice(0, index)) ? 'between' : '';
}

function endOfCondition(text: string, start: number): number | undefined {
  let depth = 0;
  for (let index = start; index <= text.length; index += 1) {
    const inHole = text.startsWith('${', index);
    if (inHole) {
      index = text.indexOf('}', index);
      if (index < 0) return undefined;
      continue;
    }
    if (depth === 0 && index > start && END.test(text.slice(index))) return index;
    if (text[index] === '(') depth += 1;
    if (text[index] === ')') depth -= 1;
    if (depth < 0) return undefined;
  }
  return undefined;
}

function each(
  text: string,
  pattern: RegExp,
  operator: string,
  replacement: (found: RegExpMatchArray) => string,
): Edit[] {
  return [...text.matchAll(pattern)].map((found) => at(found, operator, replacement(found)));
}

function at(found: RegExpExecArray, operator: string, replacement: string): Edit {
  const end = found.index + found[0].length;
  return { operator: `sql: ${operator}`, start: found.index, end, replacement };
}
