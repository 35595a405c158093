import { WordChoice } from '../validation/query-fields.js';
import { MOST_SORT_FIELDS, sortField } from './sort-words.js';

interface SortOptions {
  /** What is special about the fields; the rest is the same for every list. */
  readonly description?: string;
  readonly example?: readonly string[];
  /** Further names of fields, with the field that each stands for: beside that one it would decide nothing. */
  readonly otherNames?: Readonly<Record<string, string>>;
}

/** Several fields to order a list by. `name` is what the contract calls the set of words. */
export function SortWords(
  name: string,
  words: readonly string[],
  { description, example, otherNames = {} }: SortOptions = {},
): PropertyDecorator {
  const fields = new Set(words.map(sortField)).size;
  const most = Math.min(MOST_SORT_FIELDS, fields);
  const rule = `By what the list is ordered: up to ${most} fields, separated by commas, none of them twice. The first counts most, and a \`-\` reverses one. What is equal in all of them keeps one order, in the direction of the last one. Without it the newest comes first.`;
  return WordChoice(
    { title: name, type: 'string', enum: [...words] },
    {
      fits: (word) => words.includes(word),
      what: `one of ${words.join(', ')}`,
      subject: (word) => otherNames[sortField(word)] ?? sortField(word),
    },
    {
      optional: true,
      description: [rule, description].filter((part) => part !== undefined).join(' '),
      example,
    },
    most,
  );
}
