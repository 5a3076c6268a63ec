import { createLogger, initialLogLevel, systemClock } from '@clinical-launch/service';
import { endAtStart, releaseMemoryOfStart, stopOnSignal } from '@clinical-launch/service/process';
import { startPlatform } from './platform.ts';
import { readableLog, summaryOf } from './terminal.ts';

const { stdout, env: environment } = process;

try {
  const level = initialLogLevel(environment.LOG_LEVEL);
  const logger = createLogger(stdout.isTTY ? { level, destination: readableLog() } : { level });
  const platform = await startPlatform({ environment, clock: systemClock, logger });
  stopOnSignal(platform, logger);
  if (stdout.isTTY) stdout.write(summaryOf(platform, environment));
  else logger.info({ adminUrl: platform.adminUrl }, 'health and readiness');
  stdout.write(`ready ${platform.publicUrl}\n`);
  setImmediate(releaseMemoryOfStart);
} catch (error) {
  endAtStart(error);
}
