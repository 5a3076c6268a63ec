import { createLogger, systemClock } from '@clinical-launch/service';
import { startPlatform } from './platform.ts';

const logger = createLogger({ level: process.env.LOG_LEVEL ?? 'info' });

try {
  const platform = await startPlatform({ environment: process.env, clock: systemClock, logger });
  const stop = (signal: NodeJS.Signals) => {
    logger.info({ signal }, 'stopping');
    platform.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.fatal({ err: error }, 'did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  logger.info({ adminUrl: platform.adminUrl }, 'health and readiness');
  process.stdout.write(`ready ${platform.publicUrl}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof TypeError ? error.message : String((error as Error).stack)}\n`);
  process.exit(1);
}
