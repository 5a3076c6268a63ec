import { styleText } from 'node:util';
import { systemClock } from '@clinical-launch/runtime/clock';
import { createLogger } from '@clinical-launch/runtime/logger';
import { startPlatform } from './platform.ts';
import { playDemo } from './sandbox.ts';

/** Returns the pages to open next, on the platform at `BASE_URL` or on a demo that the reader starts. */
function nextSteps(baseUrl: string | undefined): string {
  const url = baseUrl || 'http://localhost:8080';
  const rows = [
    ...(baseUrl ? [] : [['npm start', 'starts the demo, which keeps running']]),
    [`${url}/`, 'opens a patient, and plays a whole order'],
    [`${url}/demo/wire`, 'shows what a launch sent, and sends it again'],
    ['docs/README.md', 'leads each reader to a guide'],
  ];
  const lines = rows.map(([what = '', does = '']) => `  ${what.padEnd(34)}${does}\n`);
  return `\n${styleText('bold', 'Open next')}\n${lines.join('')}`;
}

const ownPlatform = process.env.BASE_URL
  ? undefined
  : await startPlatform({
      environment: { ...process.env, PORT: '0', HTTPS_PORT: '', PUBLIC_URL: '', HOST: '127.0.0.1' },
      clock: systemClock,
      logger: createLogger({ level: 'error' }),
    });
try {
  await playDemo(ownPlatform?.publicUrl ?? process.env.BASE_URL ?? '', process.env);
  process.stdout.write(nextSteps(process.env.BASE_URL));
} catch (error) {
  process.stderr.write(`failed  ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  await ownPlatform?.stop();
}
