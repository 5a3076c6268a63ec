import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { optionalText, Type } from '@clinical-launch/contracts/type';
import type { EventBus } from '@clinical-launch/events/event-bus';
import { createAdmission } from '@clinical-launch/http/admission';
import type { Refusals } from '@clinical-launch/http/refusals';
import { createAdminApp, listen } from '@clinical-launch/http/server';
import { type Clock, pause, systemClock } from '@clinical-launch/runtime/clock';
import {
  assertPublicAddresses,
  ConfigurationError,
  type Environment,
  isProduction,
  readEnvironment,
  readTogether,
} from '@clinical-launch/runtime/environment';
import { createServiceLogger, type Logger, logLevelSetting } from '@clinical-launch/runtime/logger';
import { readWatchedCertificates, watchCertificates } from './certificates.ts';
import { type EventKeys, readEventKeys } from './event-keys.ts';
import { logTelemetryWarnings } from './exporters.ts';
import type { RunningPart } from './parts.ts';
import { startMetrics } from './process-metrics.ts';
import { withSecretFiles } from './secret-files.ts';
import { type Mount, startServices } from './service.ts';
import { readTelemetry, type Telemetry } from './telemetry-settings.ts';
import { startTracing } from './tracing.ts';

const port = { minimum: 0, maximum: 65_535 };

export const processSettings = Type.Object({
  PORT: Type.Integer({ ...port, default: 8080, title: 'The port of the service. 0 means any free port.' }),
  HOST: optionalText({ title: 'The address to listen on. If unset, the service listens on every address.' }),
  ADMIN_PORT: Type.Integer({
    ...port,
    default: 9090,
    title: 'The port of `/healthz`, `/readyz` and `/metrics`. Do not publish it.',
  }),
  TRUSTED_PROXIES: Type.Integer({
    minimum: 0,
    default: 0,
    title:
      'The number of reverse proxies in front of the service. It must be exact: the address of a caller is read from `X-Forwarded-For`.',
  }),
  SHUTDOWN_DELAY_MS: Type.Integer({
    minimum: 0,
    default: 0,
    title:
      'Milliseconds that a stopping process continues to serve while `/readyz` answers 503. Choose a longer time than your load balancer needs to notice the 503.',
  }),
  REQUESTS_AT_ONCE: Type.Optional(
    Type.Integer({
      minimum: 1,
      title:
        'The number of requests that a process works on at the same time. Others wait for two seconds, new launches last, and then receive 503 with `Retry-After`. Default: 16 for `ordering` and `audit-trail`, otherwise 128.',
    }),
  ),
  LOG_LEVEL: logLevelSetting,
});

type ProcessTools = {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly name: string;
  readonly eventKeys: EventKeys;
  /** Registers a part: its checks count for readiness, and it is stopped after the services. */
  own<Part extends RunningPart>(part: Part): Part;
};

type ProcessPlan<Config> = {
  readonly name: string;
  /**
   * The default of `REQUESTS_AT_ONCE`. Requests that need PostgreSQL would only wait for its ten connections.
   * Without it, the default of the process with all services.
   */
  readonly requestsAtOnce?: number;
  /** Reads the settings of the service from the environment. @throws ConfigurationError */
  configure(environment: Environment): Config;
  /**
   * Connects the parts and creates the services. Returns each service with the path at which the edge sends
   * requests to it.
   */
  open(
    config: Config,
    tools: ProcessTools,
  ): Promise<{
    readonly mounts: readonly Mount[];
    readonly bus?: EventBus;
    /** Limits and audits the refused requests of all services of the process. */
    readonly refusals?: Refusals;
  }>;
};

/**
 * Runs one process of the platform until SIGTERM or SIGINT. Reads the configuration, connects and serves. If
 * the configuration is invalid, reports all problems together and exits with code 1. On the signal, lets
 * current work finish and then stops everything in reverse order. A secret may also be given as
 * `<NAME>_FILE`, the path of a file that contains the secret.
 */
export async function runProcess<Config>(plan: ProcessPlan<Config>): Promise<void> {
  // Process 1 of a container ignores signals without a handler, so it would not stop while it waits for
  // parts.
  process.once('SIGTERM', endBeforeStart);
  try {
    const environment = withSecretFiles(process.env);
    const { settings, telemetry, config, eventKeys } = readTogether({
      settings: () => readEnvironment(processSettings, environment),
      telemetry: () => readTelemetry(environment),
      certificates: () => readWatchedCertificates(environment),
      addresses: () => assertPublicAddresses(environment),
      eventKeys: () => readEventKeys(environment, plan.name),
      config: () => plan.configure(environment),
    });
    const logger = createServiceLogger(plan.name, { level: settings.LOG_LEVEL });
    const running = await start(plan, config, { environment, settings, telemetry, eventKeys, logger });
    process.off('SIGTERM', endBeforeStart);
    stopOnSignal(running, logger);
    process.stdout.write(
      `ready ${plan.name} http://localhost:${running.port} admin http://localhost:${running.adminPort}\n`,
    );
    // Frees the memory that only the start needed: launch-api then uses 85 MiB instead of 116 MiB. V8
    // collects garbage only when memory is allocated, and an idle process allocates none. The image sets
    // `--expose-gc`.
    setImmediate(() => globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }));
  } catch (error) {
    endAtStart(error);
  }
}

const endBeforeStart = () => process.exit(0);

/**
 * Ends a process that cannot start, with exit code 1. Prints one line for problems that the operator can fix,
 * and the stack of any other error.
 */
export function endAtStart(error: unknown): never {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exit(1);
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  const { code, port, stack } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Stop the other program, or set PORT to another port.`;
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} needs more rights than this process has. Set PORT to 1024 or higher.`;
  return String(stack ?? error);
}

/** The maximum milliseconds of a stop. Compose and Kubernetes kill a process later. */
const stopWithinMs = 25_000;

/**
 * Ends this process on SIGTERM or SIGINT, once everything has stopped: exit code 0, or 1 if something failed or
 * has not stopped within 25 seconds.
 */
export function stopOnSignal(running: { stop(): Promise<void> }, logger: Logger): void {
  const stop = (signal: NodeJS.Signals) => {
    logger.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.fatal({ err: error }, 'the process did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

type StartOptions = {
  readonly environment: Environment;
  readonly settings: ReturnType<typeof readEnvironment<typeof processSettings>>;
  readonly telemetry: Telemetry;
  readonly eventKeys: EventKeys;
  readonly logger: Logger;
};

async function start<Config>(
  plan: ProcessPlan<Config>,
  config: Config,
  { environment, settings, telemetry, eventKeys, logger }: StartOptions,
) {
  logTelemetryWarnings(logger);
  const metrics = startMetrics({ service: plan.name, telemetry, logger });
  const traces = startTracing(telemetry, { name: plan.name, logger });
  const parts: RunningPart[] = [];
  const checks: Record<string, () => Promise<boolean>> = { serving: async () => isServing };
  let isServing = false;
  const admin = await listen(createAdminApp(checks, metrics.answer), {
    port: settings.ADMIN_PORT,
    logger,
    ...withoutUndefined({ host: settings.HOST }),
  });
  const own = <Part extends RunningPart>(part: Part): Part => {
    parts.push(part);
    Object.assign(checks, part.checks);
    return part;
  };
  own(watchCertificates(readWatchedCertificates(environment), logger));
  const clock = systemClock;
  const { mounts, bus, refusals } = await plan.open(config, {
    environment,
    clock,
    logger,
    name: plan.name,
    eventKeys,
    own,
  });
  const services = await startServices({
    mounts,
    bus,
    logger,
    clock,
    isProduction: isProduction(environment),
    trustedProxies: settings.TRUSTED_PROXIES,
    publicUrl: environment.PUBLIC_URL ?? '',
    refusals,
    admission: createAdmission(withoutUndefined({ limit: settings.REQUESTS_AT_ONCE ?? plan.requestsAtOnce })),
  });
  const server = await listen(services.listener, {
    port: settings.PORT,
    logger,
    ...withoutUndefined({ host: settings.HOST }),
  });
  isServing = true;

  return {
    port: server.port,
    adminPort: admin.port,
    async stop() {
      isServing = false;
      await pause(settings.SHUTDOWN_DELAY_MS);
      for (const one of [server, services, ...parts.toReversed(), metrics, admin, traces]) await one.stop();
    },
  };
}
