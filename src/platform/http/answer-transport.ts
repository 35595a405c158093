import type { FastifyReply, FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { prefersAsync } from './handler-options.js';

/** Below this size, compression saves less than its header costs. */
const SMALLEST_COMPRESSED_BYTES = 1024;

type Done = (error: Error | null, payload?: unknown) => void;

/**
 * Only responses to GET are compressed: they contain no keys, secrets or tokens, which an attacker could learn from the
 * length of compressed responses (BREACH). Streams are flushed while they are written, and a strong ETag identifies the
 * exact bytes, so neither is compressed.
 */
export function sendCompletely(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: Done,
): void {
  const { headers, method } = request;
  if (reply.statusCode === 201) setLocation(request, reply, payload);
  if (reply.statusCode === 202 && prefersAsync(request)) {
    void reply.header('preference-applied', 'respond-async');
  }
  if (reply.statusCode !== 200 || (method !== 'GET' && method !== 'HEAD')) {
    return done(null, payload);
  }
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string' && hasAlready(headers['if-none-match'], etag)) {
    reply.removeHeader('content-type').removeHeader('content-length').status(304);
    // For HEAD, Fastify itself removes the body and keeps Content-Length.
    return done(null, method === 'HEAD' ? payload : null);
  }
  if (!isCompressible(payload, etag)) return done(null, payload);
  // The header is set even if this caller accepts no compression, so that caches distinguish the encodings.
  void reply.header('vary', 'accept-encoding');
  if (!acceptsGzip(headers['accept-encoding'])) return done(null, payload);
  void reply.header('content-encoding', 'gzip').removeHeader('content-length');
  compressed(payload).then((packed) => done(null, packed), done);
}

function isCompressible(payload: unknown, etag: unknown): payload is string | Buffer {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false;
  if (typeof etag === 'string' && etag.startsWith('"')) return false;
  return Buffer.byteLength(payload) > SMALLEST_COMPRESSED_BYTES;
}

const compress = promisify(gzip);
const compressedFiles = new WeakMap<Buffer, Promise<Buffer>>();

/** Compresses a file, which is a Buffer, only at its first request. */
function compressed(payload: Buffer | string): Promise<Buffer> {
  if (typeof payload === 'string') return compress(payload);
  let file = compressedFiles.get(payload);
  if (!file) compressedFiles.set(payload, (file = compress(payload, { level: 9 })));
  return file;
}

/** Sets Location to the URL of the new resource. For a webhook source, the name takes the place of the id. */
function setLocation(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const { server, answeredId } = request;
  const { url = '' } = request.routeOptions;
  const isList = server.hasRoute({ url: `${url}/:id`, method: 'GET' });
  if (!isList || typeof payload !== 'string') return;
  // For a repeated request, the payload is the text of the stored response.
  const id = answeredId ?? idIn(payload);
  void reply.header('location', `${url}/${encodeURIComponent(id)}`);
}

function idIn(payload: string): string {
  const { data } = JSON.parse(payload) as { readonly data: Readonly<Record<string, string>> };
  return (data['id'] ?? data['source'])!;
}

/** Compares If-None-Match weakly, because compressing proxies convert strong tags to weak tags. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** Matches an Accept-Encoding that allows gzip. A quality of 0 forbids it. */
const GZIP = /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?:1|0\.\d*[1-9]))/i;

export function acceptsGzip(acceptEncoding: string | string[] = ''): boolean {
  return GZIP.test(String(acceptEncoding));
}

export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Weak tag of the content, the same with and without compression. */
  readonly etag: string;
}

export function staticFile(type: string, content: Buffer | string): StaticFile {
  const bytes = Buffer.from(content);
  return { type, bytes, etag: `W/"${hash('sha256', bytes, 'base64url').slice(0, 22)}"` };
}

export function sendFile(
  reply: FastifyReply,
  { type, bytes, etag }: StaticFile,
  caching: string,
): void {
  const headers = { 'cache-control': caching, etag, vary: 'accept-encoding' };
  void reply.headers(headers).type(type).send(bytes);
}
