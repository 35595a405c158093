import { QueryInteger, WordChoice } from '../validation/query-fields.js';
import { LAST_PAGE, MOST_PER_PAGE, type PageRequest, MOST_SORT_FIELDS, sortField } from './page.js';

export class PageQueryDto implements PageRequest {
  @QueryInteger({ optional: true, min: 1, max: LAST_PAGE, default: 1 })
  readonly page: number = 1;

  @QueryInteger({ optional: true, min: 1, max: MOST_PER_PAGE, default: 20 })
  readonly per_page: number = 20;
}

interface SortOptions {
  readonly description?: string;
  readonly example?: readonly string[];
  /** Aliases of fields. An alias and its field cannot be combined. */
  readonly otherNames?: Readonly<Record<string, string>>;
}

/** Fields to order a list by. `name` is the name of the set in the contract. */
export function SortWords(
  name: string,
  words: readonly string[],
  { description, example, otherNames = {} }: SortOptions = {},
): PropertyDecorator {
  const fields = new Set(words.map(sortField)).size;
  const most = Math.min(MOST_SORT_FIELDS, fields);
  const rule = `Order of the list: up to ${most} different fields, separated by commas. The first field has priority. A \`-\` before a field reverses it. Items with equal values have a fixed order, in the direction of the last field. Default: newest first.`;
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
