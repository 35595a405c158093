import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Optional } from '../../platform/validation/decorators.js';
import { SESSION_SORTS, type Session, type SessionSort } from '../sessions/session.js';

export class SessionQueryDto extends PageQueryDto {
  @ApiProperty({
    enum: SESSION_SORTS,
    enumName: 'SessionSort',
    default: '-created_at',
    required: false,
  })
  @Optional()
  @IsIn(SESSION_SORTS)
  readonly sort: SessionSort = '-created_at';
}

export class SessionDto {
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    description: 'Not the token: nobody comes in with it.',
    example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  })
  readonly id: string;

  @ApiProperty({
    type: 'boolean',
    description: 'Whether it is the one of this request.',
    example: true,
  })
  readonly current: boolean;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:30:00.000Z' })
  readonly created_at: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: 'To the minute. Eight hours after it the session ends.',
    example: '2026-11-02T11:00:00.000Z',
  })
  readonly last_seen_at: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: 'When it ends even while it is in use.',
    example: '2026-11-03T09:30:00.000Z',
  })
  readonly expires_at: string;

  @ApiProperty({
    type: 'string',
    required: false,
    description: 'Where the login came from.',
    example: '192.0.2.17',
  })
  readonly address?: string;

  @ApiProperty({
    type: 'string',
    required: false,
    maxLength: 256,
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
      ...(row.address !== null && { address: row.address }),
      ...(row.user_agent !== null && { user_agent: row.user_agent }),
    };
  }
}
