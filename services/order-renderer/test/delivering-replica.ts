// A replica of the renderer that delivers one order and is killed by the test that started it: on the
// database of its first argument, to the address of its second.
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { aRegistry, aSecret, sealed, startDeliveringPlatform } from './delivering-platform.ts';

const [url = '', callbackUrl = '', guid = ''] = process.argv.slice(2);
const storage = await openPostgresStorage({ url, applicationName: 'replica' });
const registry = aRegistry({ 'pms-demo': { url: callbackUrl, secrets: [sealed(aSecret())] } });
const platform = await startDeliveringPlatform({ registry, storage });
await platform.order({ guid });
