// Runs a replica of the renderer that delivers one order until the test kills it. The arguments are the URL of
// the database, the callback address and the GUID of the order.
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { aRegistry, aSecret, sealed, startDeliveringPlatform } from './delivering-platform.ts';

const [url = '', callbackUrl = '', guid = ''] = process.argv.slice(2);
const storage = await openPostgresStorage({ url, applicationName: 'replica' });
const registry = aRegistry({ 'pms-demo': { url: callbackUrl, secrets: [sealed(aSecret())] } });
const platform = await startDeliveringPlatform({ registry, storage });
await platform.order({ guid });
