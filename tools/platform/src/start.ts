import { logTelemetryWarnings } from '@clinical-launch/process/exporters';
import { endAtStart, stopOnSignal } from '@clinical-launch/process/process';
import { startMetrics } from '@clinical-launch/process/process-metrics';
import { readTelemetry } from '@clinical-launch/process/telemetry-settings';
import { startTracing } from '@clinical-launch/process/tracing';
import { systemClock } from '@clinical-launch/runtime/clock';
import { isProduction } from '@clinical-launch/runtime/environment';
import { createServiceLogger, initialLogLevel } from '@clinical-launch/runtime/logger';
import { startPlatform } from './platform.ts';
import { readableLog, summaryOf } from './terminal.ts';

const { stdout, env: environment } = process;

try {
  const level = initialLogLevel(environment.LOG_LEVEL);
  const name = 'clinical-launch';
  const logger = createServiceLogger(name, stdout.isTTY ? { level, destination: readableLog() } : { level });
  const telemetry = readTelemetry(environment);
  logTelemetryWarnings(logger);
  const metrics = startMetrics({ service: name, telemetry, logger });
  const traces = startTracing(telemetry, { name, logger });
  const answerMetrics = metrics.answer;
  const platform = await startPlatform({ environment, clock: systemClock, logger, answerMetrics });
  const stop = async () => {
    for (const one of [platform, metrics, traces]) await one.stop();
  };
  stopOnSignal({ stop }, logger);
  if (!stdout.isTTY)
    logger.info({ adminUrl: platform.adminUrl }, 'the admin port serves health, readiness and metrics');
  stdout.write(`ready ${platform.publicUrl}\n`);
  if (stdout.isTTY || !isProduction(environment)) stdout.write(summaryOf(platform, environment));
} catch (error) {
  endAtStart(error);
}
