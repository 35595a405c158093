import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const pack = promisify(gzip);

/** A file that is the same for everybody until the next release: told apart by its content, and compressed once. */
export class StaticFile {
  /** A weak one: it names the content, whether it is sent compressed or not. */
  readonly etag: string;
  private packed?: Promise<Buffer>;

  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {
    this.etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  }

  /** Done outside of the event loop, when somebody first asks for it. */
  gzipped(): Promise<Buffer> {
    return (this.packed ??= pack(this.bytes, { level: 9 }));
  }
}

/** Answers with the file, compressed for those who take that, and without it for those who have it already. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
  caching: string,
): Promise<void> {
  const { headers } = request;
  void reply.headers({ 'cache-control': caching, etag: file.etag, vary: 'accept-encoding' });
  if (hasAlready(headers['if-none-match'], file.etag)) return void reply.status(304).send();
  void reply.type(file.type);
  if (!takesGzip(headers['accept-encoding'])) return void reply.send(file.bytes);
  void reply.header('content-encoding', 'gzip').send(await file.gzipped());
}

/** If-None-Match compares weakly: proxies that compress make weak tags of strong ones. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** Whether Accept-Encoding takes gzip, by name or by `*`; a quality of 0 refuses it. */
export function takesGzip(acceptEncoding: string | string[] | undefined): boolean {
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
  return offers.get('gzip') ?? offers.get('*') ?? false;
}
