import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

type Mode = 'forward' | 'hang' | 'mute' | 'end-at-once';

/** Last message of PostgreSQL when it accepts a connection. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
/** `terminating connection due to administrator command`, in the shortest form of the protocol. */
const TERMINATED = Buffer.from('E\0\0\0\x13SFATAL\0C57P01\0\0', 'latin1');

/** Proxy between the service and PostgreSQL, which can break connections. */
export class TcpProxy {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private readonly server = createServer((client) => this.accept(client));
  private mode: Mode = 'forward';
  /** Port of the target. It may change, like the address of a database in a failover. */
  target: number;

  private constructor(target: number) {
    this.target = target;
  }

  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** Starts a proxy for this address and returns its own address. */
  static async before(url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const address = new URL(url);
    const proxy = await TcpProxy.to(Number(address.port));
    address.port = String(proxy.port);
    return { proxy, url: address.toString() };
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Accepts connections but transfers nothing. */
  hang(): void {
    this.mode = 'hang';
  }

  /** Transfers requests of the service, but no responses of the database. */
  mute(): void {
    this.mode = 'mute';
  }

  /** Accepts and ends a connection in one packet, as the database may do. */
  endAtOnce(): void {
    this.mode = 'end-at-once';
  }

  /** Makes new connections work again. Connections that hung have lost data. */
  restore(): void {
    this.mode = 'forward';
  }

  /** Breaks every connection, like the restart of a crashed machine. */
  cut(): void {
    for (const [client, server] of this.pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private accept(client: Socket): void {
    const server = connect(this.target, '127.0.0.1');
    const pair = [client, server] as const;
    this.pairs.add(pair);
    client.on('data', (bytes) => this.mode !== 'hang' && server.write(bytes));
    server.on('data', (bytes) => {
      if (this.mode === 'forward') client.write(bytes);
      if (this.mode !== 'end-at-once') return;
      const ready = bytes.subarray(-READY.length).equals(READY);
      client.write(ready ? Buffer.concat([bytes, TERMINATED]) : bytes);
      if (ready) client.end();
    });
    for (const [one, other] of [pair, [server, client] as const]) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.pairs.delete(pair);
        other.destroy();
      });
    }
  }
}
