import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer } from 'node:tls';
import { type ListenOptions, listen, type RunningServer } from '@clinical-launch/http/server';
import { ConfigurationError } from '@clinical-launch/runtime/environment';

type LocalServer = RunningServer & {
  /** The address for the programs of this machine. */
  readonly url: string;
  /** The path of the certificate to trust, if the server has HTTPS. */
  readonly certificate: string | undefined;
};

/**
 * Starts a server. With `httpsPort`, a second port decrypts connections and forwards them to the first one,
 * because some client libraries refuse http. The certificate for localhost is made at the first start.
 * @throws ConfigurationError if there is no certificate, and the program openssl is missing
 */
export async function listenLocally(
  listener: RequestListener,
  { httpsPort, ...options }: ListenOptions & { readonly httpsPort?: number | undefined },
): Promise<LocalServer> {
  const server = await listen(listener, options);
  const { port } = server;
  if (httpsPort === undefined) return { ...server, url: `http://localhost:${port}`, certificate: undefined };
  try {
    const { certificate, key } = localCertificate();
    const pair = { cert: readFileSync(certificate), key: readFileSync(key) };
    // A connection that fails ends its counterpart, and needs no report.
    const https = createServer(pair, (socket) => {
      pipeline(socket, connect(port, '127.0.0.1'), socket, () => undefined);
    });
    await new Promise<void>((resolve, reject) => {
      https.once('error', reject).listen(httpsPort, options.host, resolve);
    });
    const stop = () => server.stop().finally(() => https.close());
    return { port, url: `https://localhost:${(https.address() as AddressInfo).port}`, certificate, stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Returns the lines that make Node and Python trust a certificate, or no line without a certificate. */
export const trustLines = (certificate: string | undefined): readonly string[] =>
  certificate === undefined
    ? []
    : ['NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE'].map((name) => `export ${name}=${certificate}`);

/**
 * Returns the paths of a certificate for localhost and of its key. Makes both, unless they are still valid.
 */
function localCertificate() {
  const cache = join(homedir(), '.cache/clinical-launch');
  const folder = join(cache, 'https');
  const paths = { certificate: join(folder, 'localhost.pem'), key: join(folder, 'key.pem') };
  const stored = existsSync(paths.certificate) && new X509Certificate(readFileSync(paths.certificate));
  if (stored && stored.validToDate > new Date()) return paths;
  if (stored) rmSync(folder, { recursive: true });
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  // The certificate cannot sign others, so whoever reads the key cannot imitate other servers.
  const request = [
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 800 -subj /CN=localhost',
    '-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE',
    '-addext extendedKeyUsage=serverAuth -keyout key.pem -out localhost.pem',
  ].join(' ');
  try {
    execFileSync('openssl', request.split(' '), { cwd: made, stdio: 'ignore' });
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    // Another process may have been faster.
    if (!existsSync(folder))
      throw new ConfigurationError(['HTTPS needs the program openssl, which Git contains'], { cause: error });
  }
  return paths;
}
