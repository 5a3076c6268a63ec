import { execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type TestCertificate = {
  readonly cert: string;
  readonly key: string;
  /** `x5t#S256` (RFC 8705 section 3.1) */
  readonly thumbprint: string;
  /** The header value with which the edge forwards the certificate (RFC 9440). */
  readonly header: string;
};

/**
 * Creates a certificate authority, and client certificates that are CA-issued or self-signed, valid for one
 * day.
 */
export function createAuthority() {
  const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-clients-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...options: string[]) => execFileSync('openssl', options, { stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
  const make = (name: string, { dnsName, by }: { dnsName: string; by: 'authority' | 'itself' }) => {
    const issuer = by === 'itself' ? [] : ['-CA', at('ca.pem'), '-CAkey', at('ca.key')];
    const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${dnsName}`];
    const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)];
    openssl('req', '-x509', '-days', '1', ...newKey, ...issuer, ...names, ...files);
    const [cert, key] = [readFileSync(at(`${name}.pem`), 'utf8'), readFileSync(at(`${name}.key`), 'utf8')];
    const der = new X509Certificate(cert).raw;
    const thumbprint = createHash('sha256').update(der).digest('base64url');
    return { cert, key, thumbprint, header: `:${der.toString('base64')}:` };
  };
  openssl(
    'req',
    '-x509',
    '-days',
    '1',
    ...newKey,
    '-subj',
    '/CN=Authority',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  return {
    path: at('ca.pem'),
    make,
    write(name: string, content: unknown): string {
      writeFileSync(at(name), JSON.stringify(content));
      return at(name);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

type Sent = {
  readonly port: number;
  readonly ca: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly certificate?: TestCertificate | undefined;
};

/** Sends one request on a separate TLS connection, with or without a client certificate. */
export function sendByTls({ port, ca, path, method = 'GET', headers = {}, body = '', certificate }: Sent) {
  return new Promise<{ status: number; location: string | undefined; body: Record<string, unknown> }>(
    (resolve, reject) => {
      const { cert, key } = certificate ?? {};
      const request = httpsRequest(
        { host: '127.0.0.1', port, path, method, headers, ca, agent: false, cert, key },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () => {
            const text = Buffer.concat(parts).toString();
            const { location } = response.headers;
            const isJson = String(response.headers['content-type']).includes('json');
            resolve({ status: response.statusCode ?? 0, location, body: isJson ? JSON.parse(text) : {} });
          });
        },
      );
      request.once('error', reject).end(body);
    },
  );
}
