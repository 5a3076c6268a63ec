import { type Environment, isProduction } from '@clinical-launch/runtime/environment';
import { readRegistryFile } from '@clinical-launch/trust/registry-file';
import pretty from 'pino-pretty';
import { readDemoConfig } from './config.ts';
import { trustLines } from './https.ts';
import type { Platform } from './platform.ts';

/** Returns a log destination for terminals, which writes one readable line per entry with the time of day. */
export function readableLog() {
  return pretty({
    ignore: 'pid,hostname,service,version,trace_id,span_id',
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    sync: true,
  });
}

/** Returns a summary for the terminal: the addresses, the clients of the demo, and how data is stored. */
export function summaryOf({ publicUrl, adminUrl, certificate }: Platform, environment: Environment): string {
  const rows = [
    ...(isProduction(environment) ? [] : demoRows(publicUrl)),
    ['Audit trail', `${publicUrl}/audit/`],
    ['API descriptions', `${publicUrl}/AccessApi/openapi.json  ${publicUrl}/idp/openapi.json`],
    ['Health', `${adminUrl}/readyz`],
    ...clientRows(publicUrl, environment),
    ...trustLines(certificate).map((line) => ['Trust HTTPS', line]),
    ['Documentation', 'docs/README.md'],
    ['Stored data', storedData(environment)],
  ];
  const lines = rows.map(([name = '', text = '']) => `  ${name.padEnd(20)}${text}\n`);
  return `\n${lines.join('')}\n`;
}

const demoRows = (publicUrl: string): string[][] => [
  ['Start here', `${publicUrl}/`],
  ['What a launch sent', `${publicUrl}/demo/wire`],
  ['Developers', `${publicUrl}/developers/`],
];

/**
 * Returns the rows for the clients of the demo's registry, or for the path in `REGISTRY_FILE`. In the demo,
 * each secret is the client id followed by `-secret`.
 */
function clientRows(publicUrl: string, environment: Environment): string[][] {
  if (environment.REGISTRY_FILE) return [['Registry', environment.REGISTRY_FILE]];
  return readRegistryFile(readDemoConfig(environment).registryFile, { publicUrl })
    .realms.filter(({ clients }) => clients.length > 0)
    .map(({ realm, clients }) => [
      `Clients of ${realm}`,
      `${clients.map(({ clientId }) => clientId).join(', ')} (secret: the name and "-secret")`,
    ]);
}

function storedData({ REDIS_URL: redis, AMQP_URL: amqp, DATABASE_URL: database }: Environment): string {
  const embedded = [
    ...(database ? [] : ['orders, documents and the audit trail']),
    ...(redis ? [] : ['launches']),
    ...(amqp ? [] : ['events']),
  ];
  return embedded.length === 0 ? 'in your servers' : `${embedded.join(', ')}: lost when you stop it`;
}
