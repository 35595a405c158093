import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Self-signed certificate for the name `localhost`. */
export function certificateForLocalhost(): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'its-certificate-'));
  const command =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem';
  try {
    execFileSync('openssl', command.split(' '), { cwd: directory, stdio: 'ignore' });
    const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
    return { key: read('key.pem'), cert: read('cert.pem') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Trusts the certificate, like NODE_EXTRA_CA_CERTS. The returned function ends the trust. */
export function trust({ cert }: Certificate): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, cert]);
  return () => setDefaultCACertificates(before);
}
