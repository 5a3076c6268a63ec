// A process that starts a server and is killed before it can stop the server.
import { startRedis } from '../src/servers/redis.ts';

const { url } = await startRedis();
// The listener keeps this process alive until its parent ends.
process.on('message', () => undefined);
process.send?.(url);
