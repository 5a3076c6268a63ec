import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { trustLines } from '@clinical-launch/platform/https';
import { readableLog } from '@clinical-launch/platform/terminal';
import { UsageError } from '@clinical-launch/process/command-line';
import { endAtStart, stopOnSignal } from '@clinical-launch/process/process';
import { createServiceLogger, initialLogLevel } from '@clinical-launch/runtime/logger';
import { startTwin, type Twin, type TwinOptions } from './twin.ts';
import type { OptionValues } from './vendor-client.ts';
import { clientIn, secretsOf } from './vendor-client.ts';

/**
 * Starts a twin at the port and host of the options. If the twin cannot start for another reason than its
 * port, ends the process with exit code 1.
 * @throws UsageError if the port is invalid or in use
 */
export async function startAt(
  { port = '8080', host = '127.0.0.1', 'https-port': httpsPort }: OptionValues,
  options: Omit<TwinOptions, 'port' | 'host' | 'httpsPort'>,
): Promise<Twin> {
  for (const [name, value] of Object.entries({ port, 'https-port': httpsPort ?? '0' }))
    if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535)
      throw new UsageError(`--${name} must be a number from 0 to 65535`);
  try {
    const ports = { port: Number(port), httpsPort: httpsPort === undefined ? undefined : Number(httpsPort) };
    return await startTwin({ ...options, ...ports, host });
  } catch (error) {
    const { code, port: used } = error as NodeJS.ErrnoException & { readonly port?: number };
    if (code === 'EADDRINUSE')
      throw new UsageError(`Port ${used} is in use. Choose another port with --port`, { cause: error });
    endAtStart(error);
  }
}

/**
 * Starts the twin, which runs until SIGTERM or SIGINT.
 * @throws UsageError if an option is invalid, or the port is in use
 */
export async function start(given: OptionValues): Promise<undefined> {
  const { registry, client: clientId, callback, 'log-level': level = 'warn' } = given;
  if (initialLogLevel(level) !== level) throw new UsageError('--log-level must be a level such as info');
  const client = clientId === undefined && callback === undefined ? undefined : clientIn(given);
  const { stdout, env: environment } = process;
  const logger = createServiceLogger(
    'twin',
    stdout.isTTY ? { level, destination: readableLog() } : { level },
  );
  const twin = await startAt(given, {
    logger,
    environment,
    ...withoutUndefined({ publicUrl: given['public-url'], registryFile: registry, client }),
  });
  stopOnSignal(twin, logger);
  const secrets = client === undefined ? [] : secretsOf(client);
  stdout.write([`ready ${twin.url}`, ...trustLines(twin.certificate), ...secrets, ''].join('\n'));
}
