import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';

/** A command by its name, and the first key of a script. */
export type RedisCommand = { readonly name: string; readonly key: string };

/** Returns the commands that clients sent to a Redis during an action, without those within scripts. */
export async function recordCommands(url: string, act: () => Promise<void>): Promise<RedisCommand[]> {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  const commands: RedisCommand[] = [];
  monitor.on('monitor', (_time: string, [name = '', argument, , key = '']: string[], source: string) => {
    if (source === 'lua') return;
    commands.push({ name: name.toLowerCase(), key });
    if (argument === end) monitor.emit(end);
  });
  const end = randomUUID();
  const ended = once(monitor, end);
  try {
    await act();
    // Redis reports commands to the monitor in order, so this is the last.
    await redis.echo(end);
    await ended;
    return commands.slice(0, -1);
  } finally {
    monitor.disconnect();
    redis.disconnect();
  }
}
