import { ApiProperty } from '@nestjs/swagger';
import { Optional, QueryInteger } from '../validation/decorators.js';
import type { PageRequest } from './page.js';

/** Far past the end of any list, which is no error; the rows before it still fit a bigint. */
const LAST_PAGE = 2_147_483_647;

/** Which part of a list; every list takes it, and adds its own sort and filters. */
export class PageQueryDto implements PageRequest {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: LAST_PAGE, default: 1, required: false })
  @Optional()
  @QueryInteger(1, LAST_PAGE)
  readonly page: number = 1;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 100, default: 20, required: false })
  @Optional()
  @QueryInteger(1, 100)
  readonly per_page: number = 20;
}
