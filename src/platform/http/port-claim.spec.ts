import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PortClaim } from './port-claim.js';

describe('PortClaim', () => {
  it('refuses a port that is taken in one line, and lets go of its own', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(PortClaim.of({ host: '127.0.0.1', port })).rejects.toThrow(
      `127.0.0.1:${port} is in use by another process (EADDRINUSE).`,
    );
    other.close();
    await once(other, 'close');

    const claim = await PortClaim.of({ host: '127.0.0.1', port });
    await expect(PortClaim.of({ host: '127.0.0.1', port })).rejects.toThrow(/in use/);
    await claim.release();
    await (await PortClaim.of({ host: '127.0.0.1', port })).release();
  });
});
