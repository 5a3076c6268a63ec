import { systemClock } from '@clinical-launch/runtime/clock';
import { createLogger } from '@clinical-launch/runtime/logger';
import { readDialect } from '@clinical-launch/simulators/dialect';
import { playDesktopLaunch } from '@clinical-launch/simulators/play/desktop-launch';
import { playOltrLaunch } from '@clinical-launch/simulators/play/oltr-launch';
import { startPlatform } from './platform.ts';

const ownPlatform = process.env.BASE_URL
  ? undefined
  : await startPlatform({
      environment: { ...process.env, PORT: '0', PUBLIC_URL: undefined, HOST: '127.0.0.1' },
      clock: systemClock,
      logger: createLogger({ level: 'error' }),
    });
try {
  const baseUrl = ownPlatform?.publicUrl ?? process.env.BASE_URL ?? '';
  const played = { baseUrl, ...readDialect(process.env) };
  await playOltrLaunch(played);
  await playDesktopLaunch(played);
} catch (error) {
  process.stderr.write(`failed  ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await ownPlatform?.stop();
}
