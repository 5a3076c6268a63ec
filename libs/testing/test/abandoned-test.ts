// A process that starts a server and is killed before it can stop it.
import { startRedis } from '../src/servers/redis.ts';

const { url } = await startRedis();
// Listening keeps this process alive as long as the other one.
process.on('message', () => undefined);
process.send?.(url);
