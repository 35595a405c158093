import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { compress, type Encoding, encodingFor } from './answer-transport.js';

/** A file that is the same for every caller until the next release. It is compressed once, at the first request. */
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
