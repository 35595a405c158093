import type { FastifyReply, FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { prefersAsync } from './handler-options.js';

/** Below this size, compression saves less than its header costs. */
const SMALLEST_COMPRESSED_BYTES = 1024;

type Done = (error: Error | null, payload?: unknown) => void;

/**
 * Completes a response before it is sent: 304 if the caller has the content, Location of a resource that a POST created,
 * and compression.
 *
 * Only responses to GET are compressed. Keys, secrets and tokens are only in responses to POST and PUT, so an attacker
 * who observes the length of compressed responses (BREACH) learns nothing about them. Streams are not compressed: they
 * are flushed as they are written. Nor are responses with a strong ETag, which identifies the exact bytes.
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
  // Set even if this caller accepts no encoding, so that caches distinguish the encodings.
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

/** Runs in the thread pool, outside of the event loop. */
const compress = promisify(gzip);
const compressedFiles = new WeakMap<Buffer, Promise<Buffer>>();

/** Compresses a file, which is a Buffer, only at its first request. */
function compressed(payload: Buffer | string): Promise<Buffer> {
  if (typeof payload === 'string') return compress(payload);
  let file = compressedFiles.get(payload);
  if (!file) compressedFiles.set(payload, (file = compress(payload, { level: 9 })));
  return file;
}

/** Sets Location to the URL of the new resource. The id of a webhook source is its name. */
function setLocation(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const { server, answeredId } = request;
  const { url = '' } = request.routeOptions;
  const isList = server.hasRoute({ url: `${url}/:id`, method: 'GET' });
  if (!isList || typeof payload !== 'string') return;
  // The service stored the response to a repeated request as text.
  const id = answeredId ?? idIn(payload);
  void reply.header('location', `${url}/${encodeURIComponent(id)}`);
}

function idIn(payload: string): string {
  const { data } = JSON.parse(payload) as { readonly data: Readonly<Record<string, string>> };
  return (data['id'] ?? data['source'])!;
}

/** Compares If-None-Match weakly: compressing proxies convert strong tags to weak tags. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** A quality of 0 forbids gzip. */
const GZIP = /(?:^|,)\s*gzip\s*(?:,|$|;\s*q=(?:1|0\.\d*[1-9]))/i;

export function acceptsGzip(acceptEncoding: string | string[] = ''): boolean {
  return GZIP.test(String(acceptEncoding));
}

/** A file that is the same for all callers until the next release. */
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
