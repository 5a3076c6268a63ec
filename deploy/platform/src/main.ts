import { createLogger, systemClock } from '@clinical-launch/service';
import { stopOnSignal } from '@clinical-launch/service/process';
import { startPlatform } from './platform.ts';

const logger = createLogger({ level: process.env.LOG_LEVEL ?? 'info' });

try {
  const platform = await startPlatform({ environment: process.env, clock: systemClock, logger });
  stopOnSignal(platform, logger);
  logger.info({ adminUrl: platform.adminUrl }, 'health and readiness');
  process.stdout.write(`ready ${platform.publicUrl}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof TypeError ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
}
