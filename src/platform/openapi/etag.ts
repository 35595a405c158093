import { ApiHeader } from '@nestjs/swagger';

/** For the `headers` of an answer that carries the version of what it shows. */
export const ETAG_HEADER = {
  ETag: {
    description: 'The version of the resource, for If-Match.',
    schema: { type: 'string' as const, example: '"3"' },
  },
};

const TAG = String.raw`(W/)?"[\x21\x23-\x7e]*"`;

/** Documents If-Match; the operation also lists `precondition_failed` among its errors. */
export const ApiIfMatch = (): MethodDecorator =>
  ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'The ETag that the change is meant for; without it, whatever is there.',
    schema: { type: 'string', pattern: `^([*]|${TAG}(, *${TAG})*)$`, example: '"3"' },
  });
