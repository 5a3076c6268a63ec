import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { installDebianPackage } from '@clinical-launch/testing/servers/debian-package';
import {
  findFreePort,
  makeServerDirectory,
  runPrivately,
} from '@clinical-launch/testing/servers/private-server';
import { findProgram } from '@clinical-launch/testing/servers/server-kind';

const shipped = new URL('../../../deploy/waf/', import.meta.url);
const files = ['nginx.conf', 'modsecurity.conf', 'exclusions.conf', 'start.sh'];
const packages = {
  'nginx-light': '/usr/sbin/nginx',
  'libnginx-mod-http-modsecurity': '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so',
  'modsecurity-crs': '/usr/share/modsecurity-crs/rules',
};

/**
 * Returns the path of nginx. Installs missing Debian packages if possible.
 * @throws Error if a package cannot be installed
 */
async function provideNginx(): Promise<string> {
  for (const [name, file] of Object.entries(packages)) {
    if (!existsSync(file) && !(await installDebianPackage(name)))
      throw new Error(`The tests of the firewall need Debian's packages ${Object.keys(packages).join(', ')}`);
  }
  return findProgram('nginx') ?? packages['nginx-light'];
}

export type RunningWaf = Awaited<ReturnType<typeof startWaf>>;

type WafPlan = {
  readonly edgeUrl: string;
  readonly port: number;
  readonly level: number;
  /** The milliseconds after which the firewall answers 504 in place of the edge. */
  readonly edgeTimeoutMs?: number;
};

/** Runs the shipped files in front of a server. Changes only their folders, ports and the time
 * limit of the edge. */
export async function startWaf({ edgeUrl, port, level, edgeTimeoutMs = 25_000 }: WafPlan) {
  const nginx = await provideNginx();
  const directory = makeServerDirectory('waf');
  const admin = await findFreePort();
  mkdirSync(join(directory, 'state'));
  for (const path of [...files, '../docker/edge/haproxy.cfg']) {
    const text = readFileSync(new URL(path, shipped), 'utf8')
      .replaceAll('/etc/waf/', `${directory}/`)
      .replaceAll('/tmp/waf', `${directory}/state`)
      .replace('listen 8080;', `listen 127.0.0.1:${port};`)
      .replace('listen 9090;', `listen 127.0.0.1:${admin};`)
      .replace('exec nginx', `exec ${nginx}`)
      .replace('proxy_read_timeout 25s', `proxy_read_timeout ${edgeTimeoutMs}ms`);
    writeFileSync(join(directory, basename(path)), text);
  }
  const server = await runPrivately({
    url: `http://127.0.0.1:${port}`,
    directory,
    command: 'bash',
    arguments: [join(directory, 'start.sh')],
    environment: { EDGE_URL: edgeUrl, WAF_PARANOIA_LEVEL: `${level}` },
    stopSignal: 'SIGQUIT',
    endSignal: 'SIGTERM',
    isUp: async () => (await fetch(`http://127.0.0.1:${admin}/healthz`)).ok,
  });
  return { ...server, log: () => readFileSync(join(directory, 'server.log'), 'utf8') };
}
