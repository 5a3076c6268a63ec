import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findFreePort, makeServerDirectory, type PrivateServer, runPrivately } from './private-server.ts';
import { findProgram } from './server-kind.ts';

export type PrometheusPlan = {
  /** The text of each configuration file, by name. Prometheus reads `prometheus.yml` first. */
  readonly files: Readonly<Record<string, string>>;
};

/**
 * Returns the path of a program of Prometheus: the server, or a tool that is installed with the server.
 * @throws Error that explains what to do when the program is not installed. A monitoring test is never
 * skipped
 */
export function findPrometheus(name: 'prometheus' | 'promtool' = 'prometheus'): string {
  const { PROMETHEUS_PATH: chosen } = process.env;
  const found = chosen ? join(dirname(chosen), name) : findProgram(name);
  if (found !== undefined) return found;
  throw new Error('The tests of the monitoring need Prometheus. Install prometheus, or set PROMETHEUS_PATH.');
}

/**
 * Returns the path of Alertmanager's tool. @throws Error that explains what to do when the tool is not
 * installed
 */
export function findAmtool(): string {
  const found = process.env['AMTOOL_PATH'] || findProgram('amtool');
  if (found) return found;
  throw new Error(
    'The tests of the monitoring need amtool. Install prometheus-alertmanager, or set AMTOOL_PATH.',
  );
}

/** Starts a Prometheus for the test. @throws Error with the end of its log when it does not start */
export async function startPrometheus({ files }: PrometheusPlan): Promise<PrivateServer> {
  const directory = makeServerDirectory('prometheus');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const address = `127.0.0.1:${await findFreePort()}`;
  const url = `http://${address}`;
  return runPrivately({
    url,
    directory,
    command: findPrometheus(),
    arguments: [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage',
    ],
    stopSignal: 'SIGTERM',
    isUp: async () => (await fetch(`${url}/-/ready`)).ok,
  });
}
