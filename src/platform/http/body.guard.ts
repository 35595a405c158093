import './request.js';
import type { FastifyRequest } from 'fastify';
import type { ArrivingBody } from './arriving-body.js';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Settings } from '../config/settings.js';
import { ACCESS, type Access } from '../access/access.js';
import { ROLES } from '../access/roles.js';
import { AppError, ValidationError } from '../errors/app-error.js';
import {
  ANY_KEYS,
  ANY_QUERY,
  BODY_KIND,
  BODY_UP_TO,
  type BodyKind,
  STRANGERS_BODY_BYTES,
} from './handler-options.js';
import { requireReadableQuery } from './input.guard.js';
import { type ReadBody, readStrictJson, textOf } from './strict-json.js';
import { shownName } from '../text.js';

const JSON_NAME = 'application/json';
const FORM_NAME = 'application/x-www-form-urlencoded';
const NO_BYTES = Buffer.alloc(0);
const JSON_TYPE = /^application\/json *(?:; *charset="?utf-8"? *)?$/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"? *)?$/i;

type Handler = Parameters<Reflector['getAllAndOverride']>[1];

/**
 * Comes after authentication and rate limits and before roles, because that is the order in which a caller learns what
 * is wrong: 401, 429, then 413, 415 and 400, then 403 and 422. Only here is a body read. What is wrong with the content of a readable body is
 * therefore kept for the InputGuard.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const handler: Handler = [context.getHandler(), context.getClass()];
    if (!this.option<boolean>(ANY_QUERY, handler)) requireReadableQuery(request.url);
    const { arriving } = request;
    // A signature is over the bytes: who judges it has read them already.
    if (!arriving || request.received || request.method === 'GET' || request.method === 'HEAD')
      return true;
    return this.readBody(request, arriving, handler);
  }

  private async readBody(
    request: FastifyRequest,
    arriving: ArrivingBody,
    handler: Handler,
  ): Promise<boolean> {
    const kind = this.option<BodyKind>(BODY_KIND, handler) ?? 'json';
    const sender = request.caller ? 'known' : 'stranger';
    const wrongType = kind === 'raw' ? undefined : problemOfType(request, kind);
    if (wrongType) {
      return await arriving.read(0, sender).then(
        () => true,
        () => Promise.reject(wrongType),
      );
    }
    const bytes = await arriving.read(this.mostBytes(handler), sender);
    request.received = bytes;
    if (kind === 'raw' || bytes.length === 0) return true;
    const anyKeysIn = this.option<string>(ANY_KEYS, handler);
    const read = isForm(request) ? readForm(bytes) : readStrictJson(bytes, anyKeysIn);
    if (read.value === null) {
      // Generated clients send this for a body that is left out: nothing was sent.
      request.received = NO_BYTES;
      return true;
    }
    const { value, problem } = ofObject(read);
    request.body = value;
    if (problem) request.contentProblem = problem;
    return true;
  }

  private mostBytes(handler: Handler): number {
    const { bodyLimitBytes } = this.settings;
    const declared = this.option<number | 'limit'>(BODY_UP_TO, handler);
    if (declared !== undefined) return declared === 'limit' ? bodyLimitBytes : declared;
    const access = this.option<Access>(ACCESS, handler);
    return ROLES.some((role) => role === access) ? bodyLimitBytes : STRANGERS_BODY_BYTES;
  }

  private option<T>(name: symbol, handler: Handler): T | undefined {
    return this.reflector.getAllAndOverride<T | undefined>(name, handler);
  }
}

function isForm({ headers }: FastifyRequest): boolean {
  return FORM_TYPE.test(headers['content-type'] ?? '');
}

function problemOfType(request: FastifyRequest, kind: BodyKind): AppError | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding.toLowerCase() !== 'identity') {
    return unsupported(`Content-Encoding ${encoding} is not supported.`);
  }
  if (JSON_TYPE.test(type) || (kind === 'json-or-form' && isForm(request))) return undefined;
  const types = kind === 'json-or-form' ? `${JSON_NAME} or ${FORM_NAME}` : JSON_NAME;
  return unsupported(`The body must be ${types} in UTF-8.`);
}

/** Every body of this API is an object. The validation pipe would stumble over a number. */
function ofObject(read: ReadBody): ReadBody {
  const { value } = read;
  if (value === undefined) return read;
  if (typeof value === 'object' && !Array.isArray(value)) return read;
  const problem = ValidationError.of('', 'is_object', 'The body must be a JSON object.');
  return { value: undefined, problem };
}

function unsupported(message: string): AppError {
  return new AppError('unsupported_media_type', message);
}

const MOST_FIELDS = 100;

/** Reads the fields of an HTML form in UTF-8. As for JSON, the last field of a name counts. */
function readForm(bytes: Buffer): ReadBody {
  const text = textOf(bytes);
  try {
    decodeURIComponent(text);
  } catch (error) {
    throw new AppError('bad_request', 'The body is not a valid form.', { cause: error });
  }
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS) {
    const message = `The form has more than ${MOST_FIELDS} fields.`;
    return { value: undefined, problem: ValidationError.of('', 'too_many_fields', message) };
  }
  const value = Object.fromEntries(new URLSearchParams(text));
  const [unfit] = Object.entries(value).find((field) => field.join('').includes('\0')) ?? [];
  if (unfit === undefined) return { value };
  const name = shownName(unfit);
  const message = `${name} contains a NUL character.`;
  return { value, problem: ValidationError.of(name, 'nul_character', message) };
}
