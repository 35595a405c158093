import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiQuery, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { ERROR_CATALOGUE, type ErrorCode } from '../../common/errors/error-catalogue.js';
import { LoginRequestDto } from './login.dto.js';

const PAGE = { 'text/html': { schema: { type: 'string' } } };
const ERROR = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };

export const ApiNextQuery = () =>
  ApiQuery({
    name: 'next',
    required: false,
    description: 'A path on this host, for after the login.',
    schema: { type: 'string' },
  });

export const ApiFormOrJson = () =>
  ApiBody({
    required: true,
    schema: { $ref: getSchemaPath(LoginRequestDto) },
  });

/** What goes wrong is told to a form as the page again, to everybody else as an error. */
export const ApiPageErrors = (...codes: readonly ErrorCode[]) =>
  applyDecorators(
    ...codes.map((code) =>
      ApiResponse({
        status: ERROR_CATALOGUE[code].status,
        description: `\`${code}\`: ${ERROR_CATALOGUE[code].meaning}`,
        content: { ...ERROR, ...PAGE },
      }),
    ),
  );
