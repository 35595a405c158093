import { QueryInteger, WordChoice } from '../validation/query-fields.js';
import type { FindManyOptions, FindOptionsOrder, ObjectLiteral, Repository } from 'typeorm';

export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Maximum page number. A page past the end of a list is not an error, and the offset still fits a bigint. */
export const LAST_PAGE = 2_147_483_647;
export const MOST_PER_PAGE = 100;
export const USUAL_PER_PAGE = 20;

export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

export async function findPage<Entity extends ObjectLiteral>(
  repository: Repository<Entity>,
  { page, per_page }: PageRequest,
  options: FindManyOptions<Entity>,
): Promise<Page<Entity>> {
  const range = { skip: (page - 1) * per_page, take: per_page };
  const [items, total] = await repository.findAndCount({ ...options, ...range });
  return { items, total };
}

export class PagedAnswer<T> {
  constructor(
    readonly data: T,
    readonly meta: { readonly page: number; readonly per_page: number; readonly total: number },
  ) {}
}

export class ListAnswer<T> extends PagedAnswer<readonly T[]> {
  static of<Item, T>(
    { items, total }: Page<Item>,
    { page, per_page }: PageRequest,
    map: (item: Item) => T,
  ): ListAnswer<T> {
    return new ListAnswer(items.map(map), { page, per_page, total });
  }
}

export type SortWord<Field extends string> = Field | `-${Field}`;

/** Maximum number of sort fields, because each further field makes the query more expensive. */
export const MOST_SORT_FIELDS = 3;

/** Each field is followed by its reverse. Keep the order, because some generated clients number the values. */
export const sortWords = <Field extends string>(...fields: readonly Field[]) =>
  fields.flatMap((field) => [field, `-${field}`] as const);

export const sortField = (word: string): string => word.replace(/^-/, '');

type Order = Readonly<Record<string, 'ASC' | 'DESC'>>;

/** Rows with equal fields are ordered by the unique `key`, so that pages do not overlap. */
export function findOrder<Entity extends ObjectLiteral, Field extends string>(
  sort: readonly SortWord<NoInfer<Field>>[],
  columns: Readonly<Record<Field, keyof Entity & string>>,
  key: keyof Entity & string,
): Order & FindOptionsOrder<Entity> {
  const order: Record<string, 'ASC' | 'DESC'> = {};
  let direction: 'ASC' | 'DESC' = 'ASC';
  for (const word of sort) {
    direction = word.startsWith('-') ? 'DESC' : 'ASC';
    // If two fields have the same column, the first field wins.
    order[columns[sortField(word) as Field]] ??= direction;
  }
  order[key] ??= direction;
  return order as Order & FindOptionsOrder<Entity>;
}

export class PageQueryDto implements PageRequest {
  @QueryInteger({ optional: true, min: 1, max: LAST_PAGE, default: 1 })
  readonly page: number = 1;

  @QueryInteger({ optional: true, min: 1, max: MOST_PER_PAGE, default: USUAL_PER_PAGE })
  readonly per_page: number = USUAL_PER_PAGE;
}

interface SortOptions {
  readonly description?: string;
  /** Aliases of fields. An alias and its field cannot be combined. */
  readonly otherNames?: Readonly<Record<string, string>>;
}

/** Fields to order a list by. `name` is the name of this set of values in the OpenAPI document. */
export function SortWords(
  name: string,
  words: readonly string[],
  { description, otherNames = {} }: SortOptions = {},
): PropertyDecorator {
  const fields = new Set(words.map(sortField)).size;
  const most = Math.min(MOST_SORT_FIELDS, fields);
  const rule = `Order of the list: up to ${most} different fields, separated by commas. A \`-\` before a field reverses it. Default: newest first.`;
  return WordChoice(
    { title: name, type: 'string', enum: [...words] },
    {
      fits: (word) => words.includes(word),
      what: `one of ${words.join(', ')}`,
      subject: (word) => otherNames[sortField(word)] ?? sortField(word),
    },
    { optional: true, description: description ? `${rule} ${description}` : rule },
    most,
  );
}
