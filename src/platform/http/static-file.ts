import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Each once for the life of the process: so it may take its time, outside of the event loop. */
const PACKERS = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
} as const;

type Encoding = keyof typeof PACKERS;

/** A file that is the same for everybody until the next release: told apart by its content, and compressed once. */
export class StaticFile {
  /** A weak one: it names the content, whether it is sent compressed or not. */
  readonly etag: string;
  private readonly packed = new Map<Encoding, Promise<Buffer>>();

  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {
    this.etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  }

  /** Made when somebody first asks for it. */
  packedAs(encoding: Encoding): Promise<Buffer> {
    const packed = this.packed.get(encoding) ?? PACKERS[encoding](this.bytes);
    this.packed.set(encoding, packed);
    return packed;
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
  const encoding = encodingFor(headers['accept-encoding']);
  if (!encoding) return void reply.send(file.bytes);
  void reply.header('content-encoding', encoding).send(await file.packedAs(encoding));
}

/** If-None-Match compares weakly: proxies that compress make weak tags of strong ones. */
export function hasAlready(ifNoneMatch: string | undefined, etag: string): boolean {
  const plain = (tag: string) => tag.trim().replace(/^W\//, '');
  return (ifNoneMatch ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || plain(tag) === plain(etag));
}

/** The smallest that Accept-Encoding takes, by name or by `*`; a quality of 0 refuses one. */
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
