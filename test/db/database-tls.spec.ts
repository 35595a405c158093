import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { loadSettings } from '../../src/platform/config/settings.js';
import { connectionOptions } from '../../src/platform/database/connection.js';
import { PrivateServer } from '../support/private-server.js';

/** Certificates from openssl: a CA, and a server certificate for `localhost` only. */
class Certificates {
  readonly directory = mkdtempSync(join(tmpdir(), 'its-tls-'));

  constructor() {
    chmodSync(this.directory, 0o755);
    for (const ca of ['ca', 'other-ca']) {
      this.openssl(
        `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${ca} -keyout ${ca}.key -out ${ca}.pem`,
      );
    }
    writeFileSync(this.path('names'), 'subjectAltName=DNS:localhost');
    this.openssl(
      'req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr',
    );
    this.openssl(
      'x509 -req -days 2 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out server.pem',
    );
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  /** PostgreSQL rejects a key that other users may read. */
  giveKeyTo(pid: number): void {
    const { uid, gid } = statSync(`/proc/${pid}`);
    chmodSync(this.path('server.key'), 0o600);
    chownSync(this.path('server.key'), uid, gid);
  }

  private openssl(command: string): void {
    execFileSync('openssl', command.split(' '), { cwd: this.directory, stdio: 'ignore' });
  }
}

describe('TLS to the database', () => {
  let certificates: Certificates;
  let plain: PrivateServer;
  let server: PrivateServer;

  beforeAll(async () => {
    certificates = new Certificates();
    plain = await PrivateServer.start();
    certificates.giveKeyTo(plain.pid);
    server = await PrivateServer.start({
      ssl: 'on',
      ssl_cert_file: certificates.path('server.pem'),
      ssl_key_file: certificates.path('server.key'),
    });
  });
  afterAll(async () => {
    await Promise.all([plain.remove(), server.remove()]);
    rmSync(certificates.directory, { recursive: true });
  });

  /** Returns whether the connection of the service would be encrypted. Rejects if it cannot connect. */
  async function isEncrypted(
    host: string,
    parameters: Record<string, string>,
    to: PrivateServer = server,
  ): Promise<boolean> {
    const url = new URL(to.url);
    url.hostname = host;
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const pool = new Pool(connectionOptions(url.toString(), loadSettings({})));
    try {
      const { rows } = await pool.query<{ ssl: boolean }>(
        'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
      );
      return rows[0]!.ssl;
    } finally {
      await pool.end();
    }
  }

  const url = (sslmode: string | undefined, authority: string | undefined) => ({
    ...(sslmode && { sslmode }),
    ...(authority && { sslrootcert: certificates.path(`${authority}.pem`) }),
  });

  it.each<[sslmode: string | undefined, authority: string | undefined, host: string, boolean]>([
    [undefined, undefined, 'localhost', false],
    ['disable', undefined, 'localhost', false],
    ['require', undefined, 'localhost', true],
    ['require', undefined, '127.0.0.1', true],
    ['require', 'ca', '127.0.0.1', true],
    ['verify-ca', 'ca', 'localhost', true],
    ['verify-ca', 'ca', '127.0.0.1', true],
    ['verify-full', 'ca', 'localhost', true],
  ])('with sslmode %s and CA %s connects to %s', async (sslmode, authority, host, encrypted) => {
    expect(await isEncrypted(host, url(sslmode, authority))).toBe(encrypted);
  });

  it.each<[sslmode: string, authority: string | undefined, host: string, RegExp]>([
    ['require', 'other-ca', 'localhost', /certificate/],
    ['verify-ca', 'other-ca', 'localhost', /certificate/],
    ['verify-ca', undefined, 'localhost', /./],
    ['verify-full', 'other-ca', 'localhost', /certificate/],
    ['verify-full', undefined, 'localhost', /certificate/],
    ['verify-full', 'ca', '127.0.0.1', /altnames|certificate/],
    ['verify-full', 'missing', 'localhost', /missing\.pem/],
  ])(
    'with sslmode %s and CA %s does not connect to %s',
    async (sslmode, authority, host, words) => {
      await expect((async () => isEncrypted(host, url(sslmode, authority)))()).rejects.toThrow(
        words,
      );
    },
  );

  it.each(['require', 'verify-full'])(
    'does not fall back to plain text with %s',
    async (sslmode) => {
      await expect(isEncrypted('localhost', url(sslmode, 'ca'), plain)).rejects.toThrow(/SSL/);
    },
  );
});
