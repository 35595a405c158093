export type SortWord<Field extends string> = Field | `-${Field}`;

/** One field that a list is ordered by. */
export interface Sort<Field extends string> {
  readonly field: Field;
  readonly descending: boolean;
}

/** Nobody needs more, and each one makes the query dearer. */
export const MOST_SORT_FIELDS = 3;

/**
 * What `sort` may say, for these fields: each as it is and with a `-`, which reverses the list. Each field is followed
 * by its reverse, always: some generated clients number the words.
 */
export const sortWords = <Field extends string>(...fields: readonly Field[]) =>
  fields.flatMap((field) => [field, `-${field}`] as const);

/** The field of a word, without the minus. */
export const sortField = (word: string): string => word.replace(/^-/, '');

/** What the words of a query say: the first field counts most. */
export const sortsOf = <Field extends string>(
  words: readonly SortWord<Field>[],
): readonly Sort<Field>[] =>
  words.map((word) => ({
    field: sortField(word) as Field,
    descending: word.startsWith('-'),
  }));
