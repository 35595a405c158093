import { QueryInteger } from '../validation/query-fields.js';
import { LAST_PAGE, MOST_PER_PAGE, type PageRequest } from './page.js';

/** Which part of a list; every list takes it, and adds its own sort and filters. */
export class PageQueryDto implements PageRequest {
  @QueryInteger({ optional: true, min: 1, max: LAST_PAGE, default: 1 })
  readonly page: number = 1;

  @QueryInteger({ optional: true, min: 1, max: MOST_PER_PAGE, default: 20 })
  readonly per_page: number = 20;
}
