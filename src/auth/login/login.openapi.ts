import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { LoginRequestDto } from './login.dto.js';

export const ApiNextQuery = () =>
  ApiQuery({
    name: 'next',
    required: false,
    description: 'A path on this host, for after the login.',
    schema: { type: 'string' },
  });

export const ApiFormOrJson = () =>
  applyDecorators(
    ApiExtraModels(LoginRequestDto),
    ApiBody({ required: true, schema: { $ref: getSchemaPath(LoginRequestDto) } }),
  );

export const SESSION_HEADER = {
  'Set-Cookie': {
    description: 'The session: its_session.',
    schema: { type: 'string' as const, example: 'its_session=…; HttpOnly; SameSite=Lax' },
  },
};

/** A form's browser goes on elsewhere; there is nothing to read here. */
export const ApiSeeOther = (description: string) =>
  ApiResponse({
    status: 303,
    description,
    headers: {
      Location: { description: 'A path on this host.', required: true, schema: { type: 'string' } },
      ...SESSION_HEADER,
    },
  });
