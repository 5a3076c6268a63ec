// A process that starts a server and is killed before it can stop it.
import { startRedis } from '../src/servers/redis.ts';

const { url } = await startRedis();
// The listener keeps this process alive as long as its parent.
process.on('message', () => undefined);
process.send?.(url);
