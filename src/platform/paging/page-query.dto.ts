import { QueryInteger } from '../validation/query-fields.js';
import type { PageRequest } from './page.js';

/** Far past the end of any list, which is no error; the rows before it still fit a bigint. */
const LAST_PAGE = 2_147_483_647;

/** Which part of a list; every list takes it, and adds its own sort and filters. */
export class PageQueryDto implements PageRequest {
  @QueryInteger({ optional: true, min: 1, max: LAST_PAGE, default: 1 })
  readonly page: number = 1;

  @QueryInteger({ optional: true, min: 1, max: 100, default: 20 })
  readonly per_page: number = 20;
}
