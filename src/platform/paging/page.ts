/** One page of a list, as services return it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Far past the end of any list, which is no error; the rows before it still fit a bigint. */
export const LAST_PAGE = 2_147_483_647;
export const MOST_PER_PAGE = 100;

export interface PageRequest {
  readonly page: number;
  readonly per_page: number;
}

/** A page with its place in the list, which an answer shows as `data` and `meta`. */
export class ListAnswer<T> {
  private constructor(
    readonly data: readonly T[],
    readonly meta: { readonly page: number; readonly per_page: number; readonly total: number },
  ) {}

  static of<Item, T>(
    page: Page<Item>,
    request: PageRequest,
    map: (item: Item) => T,
  ): ListAnswer<T> {
    return new ListAnswer(page.items.map(map), {
      page: request.page,
      per_page: request.per_page,
      total: page.total,
    });
  }
}
