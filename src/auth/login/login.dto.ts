import { IsString, MaxLength, MinLength } from 'class-validator';
import { AlwaysTrue, Field, Instant, Nested, Text } from '../../platform/validation/fields.js';
import { PasswordChangeDto, LONGEST_GUESS, PrincipalDto } from '../me/me.dto.js';

/** A name or a password that somebody tries. It may be longer than any that may be set. */
const Guess = ({ format, example }: { readonly format?: 'password'; readonly example: string }) =>
  Field(
    { example },
    { type: 'string', format, minLength: 1, maxLength: LONGEST_GUESS },
    MaxLength(LONGEST_GUESS),
    MinLength(1),
    IsString(),
  );

const Next = () =>
  Text({
    optional: true,
    description: 'Where a form goes on: a path on this host; anything else leads to /docs.',
    example: '/docs',
  });

export class CredentialsDto {
  @Guess({ example: 'j.doe' })
  readonly username: string;

  @Guess({ format: 'password', example: 'correct horse battery staple' })
  readonly password: string;

  @Next()
  readonly next?: string;
}

export class PasswordFormDto extends PasswordChangeDto {
  @Next()
  readonly next?: string;
}

export class StartedSessionDto {
  @Nested(() => PrincipalDto)
  readonly principal: PrincipalDto;

  @Instant({
    description:
      'When the session ends at the latest; eight hours without a request end it earlier.',
    example: '2026-11-03T09:30:00.000Z',
  })
  readonly expires_at: string;
}

export class EndedSessionDto {
  @AlwaysTrue()
  readonly logged_out: true;
}
