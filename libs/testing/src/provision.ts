import { names, serverWords } from './needs.ts';
import { provideHaproxy } from './servers/haproxy.ts';
import { sharedPostgres } from './servers/postgres.ts';
import { isUp, startRabbitMq } from './servers/rabbitmq.ts';
import { redis } from './servers/redis.ts';
import {
  findProgram,
  runContainer,
  runFromPackage,
  runInstalled,
  type ServerKind,
} from './servers/server-kind.ts';

const rabbitMq: ServerKind = {
  name: 'RabbitMQ',
  variable: 'AMQP_URL',
  debianPackage: 'rabbitmq-server',
  findProgram: () => findProgram('rabbitmq-server'),
  runProgram: () => startRabbitMq(),
  container: {
    image: 'rabbitmq:4-management-alpine',
    port: 5672,
    url: (address) => `amqp://guest:guest@${address}`,
    isUp,
  },
};

/** The servers that were started for the run. */
export type Provision = {
  stop(): Promise<void>;
};

type Part = {
  readonly kind: ServerKind;
  /** The variable that contains the URL of the server for the tests. */
  readonly testVariable: string;
  /** A test file that contains one of these words uses the server. */
  readonly words: readonly string[];
};

const parts: readonly Part[] = [
  { kind: redis, testVariable: 'TEST_REDIS_URL', words: serverWords.redis },
  { kind: rabbitMq, testVariable: 'TEST_AMQP_URL', words: serverWords.rabbitMq },
  { kind: sharedPostgres, testVariable: 'TEST_DATABASE_URL', words: serverWords.postgres },
];

/**
 * Provides the servers that these test files need, all at once, and sets their URLs in `TEST_REDIS_URL`,
 * `TEST_AMQP_URL` and `TEST_DATABASE_URL`. Uses a server that the environment names. Otherwise starts the
 * server from Docker, from the program on this machine, or from Debian's package. Does not start HAProxy,
 * which each test configures itself, but makes sure that it is installed.
 * @throws Error that explains in one sentence what to do when a server is unavailable, after stopping the
 * other servers
 */
export async function provision(testFiles: readonly string[]): Promise<Provision> {
  const started: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(started.map((stopOne) => stopOne()));
  };
  const outcomes = await Promise.allSettled([
    ...parts
      .filter(({ words }) => isNamed(testFiles, words))
      .map(async (part) => {
        const server = await obtain(part.kind);
        started.push(server.stop);
        process.env[part.testVariable] = server.url;
      }),
    ...(isNamed(testFiles, serverWords.haproxy)
      ? [provideHaproxy().then((program) => report({ name: 'HAProxy' }, program))]
      : []),
  ]);
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (failures.length > 0) {
    await stop();
    throw new AggregateError(failures, failures.map((failure) => failure.message).join('\n'));
  }
  return { stop };
}

const isNamed = (testFiles: readonly string[], words: readonly string[]) =>
  testFiles.some((file) => names(file, words));

async function obtain(kind: ServerKind): Promise<{ url: string; stop: () => Promise<void> }> {
  const url = process.env[kind.variable];
  if (url !== undefined && url !== '') {
    report(kind, `${kind.variable} of the environment`);
    return { url, stop: async () => undefined };
  }
  const startedAt = performance.now();
  const { server, from } =
    (await runContainer(kind)) ?? (await runInstalled(kind)) ?? (await runFromPackage(kind));
  report(kind, `${from}, up in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return { url: server.url, stop: () => server.stop() };
}

function report({ name }: Pick<ServerKind, 'name'>, from: string): void {
  process.stderr.write(`${name} for the tests: ${from}\n`);
}
