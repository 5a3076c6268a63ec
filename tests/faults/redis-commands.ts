import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';

/** The name of a command, and the first key if it runs a script. */
export type RedisCommand = { readonly name: string; readonly key: string };

/** Returns the commands that clients sent to Redis during an action. Omits commands that Lua scripts run. */
export async function recordCommands(url: string, act: () => Promise<void>): Promise<RedisCommand[]> {
  const redis = new Redis(url);
  // Waits until the connection is ready, so that its own commands are not recorded.
  await redis.ping();
  const commands: RedisCommand[] = [];
  const end = randomUUID();
  const ended = new EventTarget();
  const unwatch = await watchCommands(url, (line) => {
    if (line.includes(' lua] ')) return;
    const [name = '', argument, , key = ''] = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
      ([, word]) => word,
    );
    commands.push({ name: name.toLowerCase(), key });
    if (argument === end) ended.dispatchEvent(new Event('end'));
  });
  try {
    await act();
    // Redis reports commands in order, so all commands of the action precede this ECHO.
    const reported = once(ended, 'end');
    await redis.echo(end);
    await reported;
    // Other clients may have sent commands after the ECHO.
    return commands.slice(
      0,
      commands.findLastIndex(({ name }) => name === 'echo'),
    );
  } finally {
    unwatch();
    redis.disconnect();
  }
}

/**
 * Passes each line of Redis's `MONITOR` to a listener, and resolves with a function that stops it. Does not
 * use the monitor of ioredis, which fails when a command arrives in the same packet as the answer to
 * `MONITOR`.
 */
export async function watchCommands(url: string, onLine: (line: string) => void): Promise<() => void> {
  const { hostname, port, username, password } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const lines = createInterface({ input: socket });
  if (username !== '') {
    const watching = once(lines, 'line');
    socket.write(`AUTH ${username} ${password}\r\n`);
    const [answer] = await watching;
    if (answer !== '+OK') throw new Error(`Redis rejected the administrator's password: ${answer}`);
  }
  const started = once(lines, 'line');
  socket.write('MONITOR\r\n');
  await started;
  lines.on('line', onLine);
  return () => socket.destroy();
}
