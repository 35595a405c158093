import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { KnownRoutes } from './known-routes.js';

/** Below this size, compression saves less than its header costs. */
const SMALLEST_COMPRESSED_BYTES = 1024;

/** `fast` for a response, which is sent once; `small` for a file, which is compressed once and sent often. */
const EFFORTS = { fast: { br: 4, gzip: 6 }, small: { br: 9, gzip: 9 } } as const;

type Encoding = 'br' | 'gzip';

/** Compresses in the thread pool, outside of the event loop. */
function compress(
  bytes: Buffer | string,
  encoding: Encoding,
  effort: keyof typeof EFFORTS,
): Promise<Buffer> {
  const level = EFFORTS[effort][encoding];
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, packed: Buffer) => (error ? reject(error) : resolve(packed));
    if (encoding === 'gzip') gzip(bytes, { level }, done);
    else brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: level } }, done);
  });
}

/**
 * Completes answers on their way out: 304 for a caller that has the answer already, Location of what a POST created, and
 * compression.
 *
 * Only answers to GET are compressed. Keys, secrets and tokens are only in answers to POST and PUT, so an attacker who
 * observes the length of compressed answers (BREACH) learns nothing about them. Streams are sent as they are: a stream is
 * flushed as it is written. Answers with a strong ETag are sent as they are, too: a strong tag names the exact bytes.
 */
export function installAnswerTransport(instance: FastifyInstance, routes: KnownRoutes): void {
  instance.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (reply.statusCode === 201) setLocation(request, reply, payload, routes);
    if (reply.statusCode !== 200 || !/^(GET|HEAD)$/.test(request.method)) {
      return done(null, payload);
    }
    const etag = reply.getHeader('etag');
    if (typeof etag === 'string' && hasAlready(request.headers['if-none-match'], etag)) {
      reply.removeHeader('content-type').removeHeader('content-length').status(304);
      // Fastify drops the body of an answer to HEAD itself, and keeps its Content-Length.
      return done(null, request.method === 'HEAD' ? payload : null);
    }
    const encoding = isCompressible(reply, payload) && negotiated(request, reply);
    if (!encoding) return done(null, payload);
    void reply.header('content-encoding', encoding).removeHeader('content-length');
    compress(payload, encoding, 'fast').then(
      (packed) => done(null, packed),
      (error: Error) => done(error),
    );
  });
}

function isCompressible(reply: FastifyReply, payload: unknown): payload is string | Buffer {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false;
  const [etag, encoding] = [reply.getHeader('etag'), reply.getHeader('content-encoding')];
  if (encoding !== undefined || (typeof etag === 'string' && etag.startsWith('"'))) return false;
  return Buffer.byteLength(payload) > SMALLEST_COMPRESSED_BYTES;
}

/** Sets Vary even if this caller accepts no encoding, so that caches distinguish the encodings. */
function negotiated({ headers }: FastifyRequest, reply: FastifyReply): Encoding | undefined {
  void reply.header('vary', 'accept-encoding');
  return encodingFor(headers['accept-encoding']);
}

/** The answer names the new resource by the parameter of the route that reads it, such as `/api/incidents/:id`. */
function setLocation(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  routes: KnownRoutes,
): void {
  const path = request.routeOptions.url;
  const parameter = path === undefined ? undefined : routes.parameterBelow(path, 'GET');
  if (parameter === undefined || typeof payload !== 'string') return;
  const { data } = JSON.parse(payload) as { data?: Readonly<Record<string, unknown>> };
  const id = data?.[parameter];
  if (typeof id === 'string') void reply.header('location', `${path}/${encodeURIComponent(id)}`);
}

/** If-None-Match compares weakly: proxies that compress make weak tags of strong ones. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** The smallest encoding that Accept-Encoding allows, by name or by `*`. A quality of 0 refuses an encoding. */
export function encodingFor(acceptEncoding: string | string[] | undefined): Encoding | undefined {
  const offers = new Map(
    [acceptEncoding ?? []]
      .flat()
      .join(',')
      .toLowerCase()
      .split(',')
      .map((offer) => {
        const [name = '', ...options] = offer.split(';').map((part) => part.trim());
        return [name, !options.some((option) => /^q=0(\.0*)?$/.test(option))] as const;
      }),
  );
  return (['br', 'gzip'] as const).find((name) => offers.get(name) ?? offers.get('*') ?? false);
}

/** A file that is the same for all callers until the next release. It is compressed once, at the first request. */
export class StaticFile {
  /** A weak tag: it names the content, compressed or not. */
  readonly etag: string;
  private readonly packed = new Map<Encoding, Promise<Buffer>>();

  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {
    this.etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  }

  packedAs(encoding: Encoding): Promise<Buffer> {
    const packed = this.packed.get(encoding) ?? compress(this.bytes, encoding, 'small');
    this.packed.set(encoding, packed);
    return packed;
  }
}

/** Sends the file in an encoding that the caller accepts. */
export async function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
  caching: string,
): Promise<void> {
  void reply.headers({ 'cache-control': caching, etag: file.etag, vary: 'accept-encoding' });
  void reply.type(file.type);
  const encoding = encodingFor(headers['accept-encoding']);
  if (!encoding) return void reply.send(file.bytes);
  void reply.header('content-encoding', encoding).send(await file.packedAs(encoding));
}
