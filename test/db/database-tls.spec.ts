import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { connectionOptions } from '../../src/platform/database/connection.js';
import { PrivateServer } from '../support/private-server.js';

/** Certificates as openssl makes them: a CA, and a server's for the name `localhost` alone. */
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

  /** PostgreSQL takes no key that others than its own user may read. */
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

  /** Whether the connection that the service would make is encrypted; rejects when it makes none. */
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

  const ca = () => ({ sslrootcert: certificates.path('ca.pem') });
  const otherCa = () => ({ sslrootcert: certificates.path('other-ca.pem') });

  it.each<[string, string, () => Record<string, string>, boolean]>([
    ['nothing asked', 'localhost', () => ({}), false],
    ['disable', 'localhost', () => ({ sslmode: 'disable' }), false],
    ['require', 'localhost', () => ({ sslmode: 'require' }), true],
    ['require, whatever the name', '127.0.0.1', () => ({ sslmode: 'require' }), true],
    ['require with the CA', '127.0.0.1', () => ({ sslmode: 'require', ...ca() }), true],
    ['verify-ca', 'localhost', () => ({ sslmode: 'verify-ca', ...ca() }), true],
    ['verify-ca, whatever the name', '127.0.0.1', () => ({ sslmode: 'verify-ca', ...ca() }), true],
    ['verify-full', 'localhost', () => ({ sslmode: 'verify-full', ...ca() }), true],
  ])('connects with %s to %s', async (_, host, parameters, encrypted) => {
    expect(await isEncrypted(host, parameters())).toBe(encrypted);
  });

  it.each<[string, string, () => Record<string, string>, RegExp]>([
    [
      'require with another CA',
      'localhost',
      () => ({ sslmode: 'require', ...otherCa() }),
      /certificate/,
    ],
    [
      'verify-ca with another CA',
      'localhost',
      () => ({ sslmode: 'verify-ca', ...otherCa() }),
      /certificate/,
    ],
    ['verify-ca without a CA', 'localhost', () => ({ sslmode: 'verify-ca' }), /./],
    [
      'verify-full with another CA',
      'localhost',
      () => ({ sslmode: 'verify-full', ...otherCa() }),
      /certificate/,
    ],
    [
      'verify-full without a CA that the system knows',
      'localhost',
      () => ({ sslmode: 'verify-full' }),
      /certificate/,
    ],
    [
      'verify-full by another name',
      '127.0.0.1',
      () => ({ sslmode: 'verify-full', ...ca() }),
      /altnames|certificate/,
    ],
    [
      'an unreadable CA',
      'localhost',
      () => ({ sslmode: 'verify-full', sslrootcert: '/none.pem' }),
      /none\.pem/,
    ],
  ])('does not connect with %s to %s', async (_, host, parameters, words) => {
    await expect((async () => isEncrypted(host, parameters()))()).rejects.toThrow(words);
  });

  it.each(['require', 'verify-full'])(
    'does not fall back to plain text with %s',
    async (sslmode) => {
      await expect(isEncrypted('localhost', { sslmode, ...ca() }, plain)).rejects.toThrow(/SSL/);
    },
  );
});
