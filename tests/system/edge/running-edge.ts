import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { haproxyCommand, startHaproxy } from '@clinical-launch/testing/servers/haproxy';
import { findFreePort } from '@clinical-launch/testing/servers/private-server';

const shipped = new URL('../../../deploy/docker/edge/haproxy.cfg', import.meta.url);
const readyScript = new URL('../../../deploy/docker/edge/ready.sh', import.meta.url);
const renewScript = new URL('../../../deploy/docker/edge/renew-certificate.sh', import.meta.url);

/** The number of bytes that the service behind the edge reads before it answers 413, as in our services. */
const serviceLimit = 262_144;

export type RunningEdge = Awaited<ReturnType<typeof startEdge>>;

/**
 * Runs the shipped configuration in front of one small service. Changes only the edge's ports and the service
 * names, which a container network would resolve.
 */
export async function startEdge(environment: NodeJS.ProcessEnv = {}) {
  const service = await startService();
  const edge = await startEdgeBefore({ port: service.port, environment }).catch(async (error: unknown) => {
    await service.stop();
    throw error;
  });
  return {
    ...edge,
    service,
    async stop() {
      await edge.stop();
      await service.stop();
    },
  };
}

/** Sends requests that are refused: an unknown path by the edge, and a body over the limit by the service. */
export async function flood({ url }: RunningEdge): Promise<void> {
  const send = (path: string, body: string) =>
    // The edge may close the connection before it has read a body that is too long. The edge still counts the
    // refusal.
    fetch(url + path, { method: 'POST', body }).catch(() => undefined);
  for (let refused = 0; refused < 25; refused += 1) {
    await send('/nothing/here', 'x');
    await send('/oltr/4f9f3b0e-0000-4000-8000-000000000000/', 'x'.repeat(300_000));
  }
}

type EdgePlan = {
  /** The port of the server that answers all paths: one service, or the platform in one process. */
  readonly port: number;
  /** The port of the server's `/readyz`. */
  readonly adminPort?: number;
  /** Whether the edge must not remove `/idp`, as the platform in one process requires. */
  readonly keepsPrefix?: boolean;
  /** The milliseconds after which the edge answers 504 in place of the service. */
  readonly serverTimeoutMs?: number;
  /** The maximum number of requests that the edge sends to the server at the same time. */
  readonly serverRequests?: number;
  /** The milliseconds that other requests wait. */
  readonly queueTimeoutMs?: number;
  readonly environment: NodeJS.ProcessEnv;
};

/** Runs the shipped configuration in front of a running server. */
export async function startEdgeBefore({
  port: servicePort,
  adminPort = servicePort,
  keepsPrefix = false,
  serverTimeoutMs,
  serverRequests,
  queueTimeoutMs,
  environment,
}: EdgePlan) {
  const plain = await findFreePort();
  const [tls, admin, socket] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const addresses = new Map<RegExp, string>([
    [/^( +bind ):8080$/gm, `$1127.0.0.1:${plain}`],
    [/^( +bind ):8443 /gm, `$1127.0.0.1:${tls} `],
    [/^( +bind ):9090$/gm, `$1127.0.0.1:${admin}`],
    [/(?<=127\.0\.0\.1:)9091/g, `${socket}`],
    [
      /server-template replica- 10 "[a-z-]+\$\{EDGE_SERVICE_DOMAIN\}:8080"$/gm,
      `server replica-1 127.0.0.1:${servicePort} port ${adminPort}`,
    ],
    ...(keepsPrefix ? [[/^ +http-request set-path .*$/gm, ''] as const] : []),
    ...(serverRequests ? [[/(?<=default-server maxconn )\d+/g, `${serverRequests}`] as const] : []),
    ...(queueTimeoutMs ? [[/(?<=timeout queue ).*$/gm, `${queueTimeoutMs}ms`] as const] : []),
    ...(serverTimeoutMs ? [[/^( +timeout server ).*$/gm, `$1${serverTimeoutMs}ms`] as const] : []),
  ]);
  const haproxy = await startHaproxy({
    configuration: withAddresses(readFileSync(shipped, 'utf8'), addresses),
    url: `http://127.0.0.1:${plain}`,
    readyUrl: `http://127.0.0.1:${admin}/healthz`,
    environment,
  });
  const script = readFileSync(readyScript, 'utf8').replace('/9090', `/${admin}`);
  return {
    url: haproxy.url,
    plain,
    tls,
    admin,
    log: () => haproxy.log(),
    /** Returns whether the script of the image's health check succeeds. */
    isReady: () => spawnSync('bash', ['-c', script]).status === 0,
    /** Runs the script that watches the certificate, with shorter pauses. Returns the running script. */
    watchCertificate() {
      const text = readFileSync(renewScript, 'utf8')
        .replace('sleep 10', 'sleep 0.1')
        .replace('/9091', `/${socket}`);
      return spawn('bash', ['-c', text], { env: { ...process.env, ...environment } });
    },
    stop: () => haproxy.stop(),
  };
}

function withAddresses(configuration: string, addresses: ReadonlyMap<RegExp, string>): string {
  return [...addresses].reduce((text, [pattern, replacement]) => {
    if (text.search(pattern) < 0) throw new Error(`The configuration does not match ${pattern.source}`);
    return text.replaceAll(pattern, replacement);
  }, configuration);
}

/** Checks the shipped configuration with these settings, and returns the exit code and the output. */
export async function checkConfiguration(environment: NodeJS.ProcessEnv) {
  const haproxy = await haproxyCommand(shipped.pathname, { options: ['-c'], environment });
  const { status, stderr } = spawnSync(haproxy.command, haproxy.arguments, {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  });
  return { status, output: stderr };
}

/**
 * Starts a service that records its requests and answers 200. For a body beyond its limit, it answers 413 and
 * closes the connection.
 */
async function startService() {
  const reached: { path: string; headers: IncomingMessage['headers'] }[] = [];
  let bytesRead = 0;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/readyz') return void response.end();
    reached.push({ path: request.url ?? '', headers: request.headers });
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      bytesRead += chunk.length;
      if (bytes <= serviceLimit || response.headersSent) return;
      response.writeHead(413, { Connection: 'close' }).end(() => request.destroy());
    });
    request.on('end', () => response.end('answered'));
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    reached,
    bytesRead: () => bytesRead,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Creates a certificate for 127.0.0.1, valid for one day by default, and its PEM file for the edge. */
export function makeCertificate({ days = 1 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'clinical-launch-edge-'));
  const [key, certificate, both] = ['key.pem', 'certificate.pem', 'edge.pem'].map((name) =>
    join(folder, name),
  );
  if (key === undefined || certificate === undefined || both === undefined)
    throw new TypeError('Three files');
  const kind = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-noenc',
    '-days',
    `${days}`,
  ];
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', certificate, ...name], {
    stdio: 'ignore',
  });
  const ca = readFileSync(certificate, 'utf8');
  writeFileSync(both, ca + readFileSync(key, 'utf8'));
  return {
    path: both,
    ca,
    caPath: certificate,
    keyPath: key,
    remove: () => rmSync(folder, { recursive: true }),
  };
}
