import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength, MinLength } from 'class-validator';
import { Optional } from '../../platform/validation/decorators.js';
import { ChangePasswordDto, PrincipalDto } from '../me/me.dto.js';

/** What may be tried is not bound by what may be set: a wrong guess is a wrong guess. */
const LONGEST_GUESS = 1_024;

export class LoginRequestDto {
  @ApiProperty({ type: 'string', minLength: 1, maxLength: LONGEST_GUESS, example: 'j.doe' })
  @IsString()
  @MinLength(1)
  @MaxLength(LONGEST_GUESS)
  readonly username: string;

  @ApiProperty({
    type: 'string',
    format: 'password',
    minLength: 1,
    maxLength: LONGEST_GUESS,
    example: 'correct horse battery staple',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(LONGEST_GUESS)
  readonly password: string;

  @ApiProperty({
    type: 'string',
    required: false,
    description: 'Where a form goes on: a path on this host; anything else leads to /docs.',
    example: '/docs',
  })
  @Optional()
  @IsString()
  readonly next?: string;
}

export class PasswordFormDto extends ChangePasswordDto {
  @ApiProperty({
    type: 'string',
    required: false,
    description: 'Where a form goes on: a path on this host; anything else leads to /docs.',
    example: '/docs',
  })
  @Optional()
  @IsString()
  readonly next?: string;
}

export class LoginDto {
  @ApiProperty({ type: PrincipalDto })
  readonly principal: PrincipalDto;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description:
      'When the session ends at the latest; eight hours without a request end it earlier.',
    example: '2026-11-03T09:30:00.000Z',
  })
  readonly expires_at: string;
}

export class LogoutDto {
  @ApiProperty({ type: 'boolean', enum: [true], example: true })
  readonly logged_out: true;
}
