import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { claimPort } from './listening.js';

describe('claimPort', () => {
  it('rejects a used port with a one-line error, and releases the port that it claimed', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(claimPort({ host: '127.0.0.1', port })).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port} (listen EADDRINUSE: address already in use`,
    );
    other.close();
    await once(other, 'close');

    const release = await claimPort({ host: '127.0.0.1', port });
    await expect(claimPort({ host: '127.0.0.1', port })).rejects.toThrow(/in use/);
    await release();
    await (
      await claimPort({ host: '127.0.0.1', port })
    )();
  });
});
