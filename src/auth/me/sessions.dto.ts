import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { SortWords } from '../../platform/paging/sort-query.js';
import { SESSION_SORTS, type Session, type SessionSort } from '../sessions/session.js';
import { Flag, Id, Instant, Text } from '../../platform/validation/fields.js';

export class SessionQueryDto extends PageQueryDto {
  @SortWords('SessionSort', SESSION_SORTS)
  readonly sort: readonly SessionSort[] = ['-created_at'];
}

export class SessionDto {
  @Id('SessionId', { description: 'Not the token: nobody comes in with it.' })
  readonly id: string;

  @Flag({ description: 'Whether it is the one of this request.', example: true })
  readonly current: boolean;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly created_at: string;

  @Instant({
    description: 'To the minute. Eight hours after it the session ends.',
    example: '2026-11-02T11:00:00.000Z',
  })
  readonly last_seen_at: string;

  @Instant({
    description: 'When it ends even while it is in use.',
    example: '2026-11-03T09:30:00.000Z',
  })
  readonly expires_at: string;

  @Text({ optional: true, description: 'Where the login came from.', example: '192.0.2.17' })
  readonly address?: string;

  @Text({
    optional: true,
    max: 256,
    description: 'What the browser or program called itself at the login.',
    example: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  })
  readonly user_agent?: string;

  static from(this: void, row: Session, currentId: string | undefined): SessionDto {
    return {
      id: row.id,
      current: row.id === currentId,
      created_at: row.created_at.toISOString(),
      last_seen_at: row.last_seen_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
      address: row.address ?? undefined,
      user_agent: row.user_agent ?? undefined,
    };
  }
}
