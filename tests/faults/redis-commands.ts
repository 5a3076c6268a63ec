import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';

/** A command by its name, and the first key of a script. */
export type RedisCommand = { readonly name: string; readonly key: string };

/** Returns the commands that clients sent to a Redis during an action, without those within scripts. */
export async function recordCommands(url: string, act: () => Promise<void>): Promise<RedisCommand[]> {
  const redis = new Redis(url);
  // What it says first is over.
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
    // Redis reports commands in order, so this is the last.
    const told = once(ended, 'end');
    await redis.echo(end);
    await told;
    // Another client may have sent something since.
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
 * Tells each line of Redis's `MONITOR`, and resolves with what ends it. ioredis's own fails when a command
 * comes in one piece with the answer to `MONITOR`.
 */
export async function watchCommands(url: string, tell: (line: string) => void): Promise<() => void> {
  const { hostname, port, username, password } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const lines = createInterface({ input: socket });
  if (username !== '') {
    const watching = once(lines, 'line');
    socket.write(`AUTH ${username} ${password}\r\n`);
    const [answer] = await watching;
    if (answer !== '+OK') throw new Error(`Redis refused the administrator: ${answer}`);
  }
  const started = once(lines, 'line');
  socket.write('MONITOR\r\n');
  await started;
  lines.on('line', tell);
  return () => socket.destroy();
}
