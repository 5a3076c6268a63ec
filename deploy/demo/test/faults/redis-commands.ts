import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';

/** The commands that clients sent to a Redis meanwhile, by name. What scripts do within Redis is not among them. */
export async function recordCommands(url: string, act: () => Promise<void>): Promise<string[]> {
  const redis = new Redis(url);
  const monitor = await redis.monitor();
  const commands: string[] = [];
  monitor.on('monitor', (_time: string, [name = '', argument]: string[], source: string) => {
    if (source === 'lua') return;
    commands.push(name.toLowerCase());
    if (argument === end) monitor.emit(end);
  });
  const end = randomUUID();
  const ended = once(monitor, end);
  try {
    await act();
    // Redis tells the monitor of commands in their order, so this is the last.
    await redis.echo(end);
    await ended;
    return commands.slice(0, -1);
  } finally {
    monitor.disconnect();
    redis.disconnect();
  }
}
