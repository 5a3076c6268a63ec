import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { exchangeBytes } from './exchange-bytes.ts';
import { findFreePort, makeServerDirectory, type PrivateServer, runPrivately } from './private-server.ts';
import { findProgram } from './server-kind.ts';

const run = promisify(execFile);

export type PrivateRabbitMq = PrivateServer & {
  /** Runs `rabbitmqctl` with these arguments on the node, and resolves with the output. */
  control(...args: readonly string[]): Promise<string>;
  /** The address of the node's metrics for Prometheus, as `host:port`; empty without metrics. */
  readonly metricsAddress: string;
};

/** The server program. Debian's command in `PATH` would change the user and the directory. */
const debianProgram = '/usr/lib/rabbitmq/bin/rabbitmq-server';

type RabbitMqOptions = {
  readonly hasMetrics?: boolean;
  /** Further lines of `rabbitmq.conf`. */
  readonly configuration?: string;
};

/**
 * Starts a RabbitMQ node for the test from the installed program. This takes about three seconds.
 * @throws Error when RabbitMQ is not installed or does not start
 */
export async function startRabbitMq({
  hasMetrics = false,
  configuration = '',
}: RabbitMqOptions = {}): Promise<PrivateRabbitMq> {
  const program = existsSync(debianProgram) ? debianProgram : findProgram('rabbitmq-server');
  if (program === undefined) throw new Error('RabbitMQ is not installed. Install rabbitmq-server.');
  const port = await findFreePort();
  const directory = makeServerDirectory('rabbitmq');
  const [distributionPort, mapperPort, metricsPort] = await Promise.all([
    findFreePort(),
    findFreePort(),
    findFreePort(),
  ]);
  const applications = join(directory, 'applications');
  const environment = environmentOf({ directory, applications, port, distributionPort, mapperPort });
  const metrics = `prometheus.tcp.ip = 127.0.0.1\nprometheus.tcp.port = ${metricsPort}\n`;
  writeFileSync(
    join(directory, 'rabbitmq.conf'),
    `listeners.tcp.1 = 127.0.0.1:${port}\n${hasMetrics ? metrics : ''}${configuration}`,
  );
  const plugins = hasMetrics ? ['rabbitmq_prometheus'] : [];
  linkApplications(program, ['rabbit', ...plugins], applications);
  writeFileSync(join(directory, 'enabled_plugins'), `[${plugins.join()}].\n`);
  const url = `amqp://guest:guest@127.0.0.1:${port}`;
  const server = await runPrivately({
    url,
    directory,
    command: program,
    arguments: [],
    environment,
    stopSignal: 'SIGTERM',
    // At a normal stop, the metrics server of the node would wait five seconds for its clients.
    endSignal: 'SIGKILL',
    isUp: () => isUp(url),
  });
  return {
    ...server,
    metricsAddress: hasMetrics ? `127.0.0.1:${metricsPort}` : '',
    async control(...args) {
      const { stdout } = await run(join(dirname(program), 'rabbitmqctl'), ['--quiet', ...args], {
        cwd: directory,
        env: { ...process.env, ...environment },
      });
      return stdout;
    },
  };
}

type Place = {
  readonly directory: string;
  /** The folder of the Erlang applications (plugins) that the node may load. */
  readonly applications: string;
  readonly port: number;
  readonly distributionPort: number;
  readonly mapperPort: number;
};

function environmentOf(place: Place): NodeJS.ProcessEnv {
  const { directory, applications, port, distributionPort, mapperPort } = place;
  const node = `clinical-launch-${port}@localhost`;
  return {
    // Erlang stores its cookie in this directory, so the node and `rabbitmqctl` share the cookie.
    HOME: directory,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    // The node starts a separate port mapper, which ends with the node.
    ERL_EPMD_PORT: `${mapperPort}`,
    RABBITMQ_NODENAME: node,
    RABBITMQ_NODE_PORT: `${port}`,
    RABBITMQ_DIST_PORT: `${distributionPort}`,
    RABBITMQ_MNESIA_BASE: join(directory, 'data'),
    RABBITMQ_LOG_BASE: join(directory, 'log'),
    RABBITMQ_CONFIG_FILE: join(directory, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'enabled_plugins'),
    RABBITMQ_PLUGINS_DIR: applications,
    // Names a file that does not exist, because Debian's own file would set the node name of the machine.
    RABBITMQ_CONF_ENV_FILE: join(directory, 'no-rabbitmq-env.conf'),
    // With this setting, the start script becomes the server instead of waiting for it, so that a signal
    // reaches the server.
    RABBITMQ_ALLOW_INPUT: 'true',
    // The tables of processes and atoms are small, because clearing the tables of a production node at the
    // start takes seconds. Waiting threads sleep, because on a busy machine a thread that spins is not
    // scheduled when it has work.
    RABBITMQ_SERVER_ERL_ARGS: '+P 65536 +t 1048576 +sbwt none +sbwtdcpu none +SDio 1 +sbwtdio none',
    // A queue reports its length twice a second instead of every five seconds, because tests wait for empty
    // queues.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: [
      '-rabbit quorum_tick_interval 500',
      '-noshell -noinput -kernel inet_dist_use_interface {127,0,0,1}',
      // With a name, the node does not start a second Erlang only to start the port mapper.
      `-sname ${node} -kernel inet_dist_listen_min ${distributionPort}`,
      `-kernel inet_dist_listen_max ${distributionPort}`,
      `-env ERL_LIBS ${applications}`,
    ].join(' '),
  };
}

/**
 * Creates a folder of links to applications of RabbitMQ and their dependencies. When Erlang starts, it
 * searches all folders for each module. With the folders of all plugins, this would cause fifty thousand
 * failed lookups.
 */
function linkApplications(program: string, names: readonly string[], folder: string): void {
  const library = join(dirname(realpathSync(program)), '../plugins');
  const entries = readdirSync(library);
  // The dependencies of archives are unknown, so all plugins are linked.
  if (entries.some((entry) => entry.endsWith('.ez'))) return symlinkSync(library, folder);
  const all = new Map(entries.map((entry) => [entry.replace(/-\d.*$/, ''), entry]));
  mkdirSync(folder);
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const application = all.get(name);
    // Skips applications of Erlang itself, which are in another folder.
    if (application === undefined) continue;
    all.delete(name);
    symlinkSync(join(library, application), join(folder, application));
    const description = readFileSync(join(library, application, 'ebin', `${name}.app`), 'utf8');
    waiting.push(...(/\{applications,\s*\[([^\]]*)/.exec(description)?.[1]?.match(/\w+/g) ?? []));
  }
}

/**
 * Returns whether the server answers the protocol header with the method frame (type 1) Connection.Start
 * (AMQP 0-9-1, section 2.2.4).
 */
export async function isUp(url: string): Promise<boolean> {
  return (await exchangeBytes(url, 'AMQP\0\0\x09\x01'))[0] === 1;
}
