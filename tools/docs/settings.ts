/** Builds docs/reference/settings.md from the configuration schemas of the services. */

import { auditKeySettings, auditTrailSettings } from '@clinical-launch/audit-trail/config';
import { auditPagesSettings } from '@clinical-launch/audit-trail/pages-config';
import type { ServiceName as EventSourceName } from '@clinical-launch/contracts/events/cloud-event';
import { outboundSettings } from '@clinical-launch/http/outbound-settings';
import { identityProviderEnvironment } from '@clinical-launch/identity-provider/config';
import { launchApiSettings } from '@clinical-launch/launch-api/config';
import { launchGatewaySettings } from '@clinical-launch/launch-gateway/config';
import { refusalSettings } from '@clinical-launch/limits/refusals';
import { orderRendererSettings } from '@clinical-launch/order-renderer/config';
import { orderingSettings } from '@clinical-launch/ordering/config';
import { developerPortalSettings, statementKeySettings } from '@clinical-launch/portal/config';
import { certificateSettings } from '@clinical-launch/process/certificates';
import { signingSettings, verificationSettings } from '@clinical-launch/process/event-keys';
import { type PartVariable, partSettings } from '@clinical-launch/process/parts';
import { pseudonymSettings } from '@clinical-launch/process/patient-pseudonyms';
import { processSettings } from '@clinical-launch/process/process';
import { redisSettings } from '@clinical-launch/process/redis-parts';
import { sealingKeySettings, sharedKeySettings } from '@clinical-launch/process/sealing-keys';
import { secretSettings } from '@clinical-launch/process/secret-files';
import { telemetrySettings } from '@clinical-launch/process/telemetry-settings';
import { resourceApiSettings } from '@clinical-launch/resource-api/config';
import { modeSetting } from '@clinical-launch/runtime/environment';
import { directorySettings } from '@clinical-launch/trust/directory-file';
import { certificateHeaderSettings } from '@clinical-launch/trust/proof-of-possession';
import { registryFileSetting, trustSettings } from '@clinical-launch/trust/trust';

export const settingsFile = new URL('../../docs/reference/settings.md', import.meta.url);

type Setting = {
  readonly title?: string;
  readonly default?: string | number | boolean;
  readonly $comment?: string;
};
type Settings = Readonly<Record<string, object>>;
/** The developer portal is a service, but it sends no events. */
type ServiceName = EventSourceName | 'developer-portal';

const parts = (...names: readonly PartVariable[]) =>
  Object.fromEntries(names.map((name) => [name, partSettings[name]]));
const withDatabase = parts('DATABASE_URL', 'AMQP_URL');
const trust = { ...trustSettings.properties, ...outboundSettings.properties };

const common: Settings = {
  ...modeSetting,
  ...processSettings.properties,
  ...certificateSettings.properties,
  ...telemetrySettings.properties,
};
/** The settings of every service except the developer portal. */
const withRedis: Settings = {
  ...parts('REDIS_URL'),
  ...redisSettings.properties,
  ...signingSettings,
  ...refusalSettings.properties,
};

/** The additional settings of each service, from the schemas that `configure` in its main.ts reads. */
const own: Readonly<Record<ServiceName, Settings>> = {
  'identity-provider': {
    ...withRedis,
    ...identityProviderEnvironment({ isProduction: true }).properties,
    ...trust,
    ...withDatabase,
    ...certificateHeaderSettings.properties,
    ...sealingKeySettings('desktop', 'access-token', 'signing-key'),
    ...verificationSettings,
    ...pseudonymSettings,
  },
  'launch-api': {
    ...withRedis,
    ...launchApiSettings.properties,
    ...trust,
    ...directorySettings,
    ...certificateHeaderSettings.properties,
    ...sealingKeySettings('launch'),
    ...pseudonymSettings,
  },
  'launch-gateway': {
    ...withRedis,
    ...launchGatewaySettings.properties,
    ...sealingKeySettings('launch'),
  },
  ordering: {
    ...withRedis,
    ...orderingSettings.properties,
    REGISTRY_FILE: registryFileSetting,
    ...withDatabase,
    ...sealingKeySettings('launch', 'order'),
    ...pseudonymSettings,
  },
  'order-renderer': {
    ...withRedis,
    ...orderRendererSettings.properties,
    REGISTRY_FILE: registryFileSetting,
    ...outboundSettings.properties,
    ...withDatabase,
    ...sealingKeySettings('launch', 'order', 'callback'),
    ...verificationSettings,
  },
  'audit-trail': {
    ...withRedis,
    ...auditTrailSettings.properties,
    ...auditKeySettings,
    ...trust,
    ...withDatabase,
    ...verificationSettings,
    ...pseudonymSettings,
    ...auditPagesSettings.properties,
    PUBLIC_URL: trustSettings.properties.PUBLIC_URL,
  },
  'resource-api': {
    ...withRedis,
    ...resourceApiSettings.properties,
    ...trust,
    ...certificateHeaderSettings.properties,
    ...sealingKeySettings('access-token'),
  },
  'developer-portal': {
    ...developerPortalSettings.properties,
    ...statementKeySettings,
    ...trust,
    ...sealingKeySettings('callback'),
  },
};

export const services = Object.keys(own) as ServiceName[];

/** Returns the names of all settings of a service. */
export const settingsOf = (service: ServiceName): string[] => Object.keys({ ...common, ...own[service] });

/** Returns the names of the settings that a service requires in production. */
export const requiredSettings = (service: ServiceName): string[] =>
  settingsOf(service).filter((name) => isRequired(service, name));

const settingOf = (service: ServiceName, name: string) => own[service][name] ?? common[name];

/** Returns whether a setting has neither a default nor the symbol that marks `Type.Optional`. */
function isRequired(service: ServiceName, name: string): boolean {
  const setting: Setting | undefined = settingOf(service, name);
  if (setting === undefined || setting.default !== undefined) return false;
  return Object.getOwnPropertySymbols(setting).length === 0;
}

function rowOf(name: string): string {
  const readers = services.filter((service) => settingOf(service, name) !== undefined);
  const settings: readonly Setting[] = readers.flatMap((service) => settingOf(service, name) ?? []);
  const { title } = settings.find((setting) => setting.title !== undefined) ?? {};
  if (title === undefined) throw new Error(`The schema of ${name} has no title`);
  const required = readers.some((service) => isRequired(service, name));
  const without = required ? (settings[0]?.$comment ?? 'required') : 'none';
  const value = settings[0]?.default === undefined ? without : `\`${settings[0].default}\``;
  const secret = secretSettings.includes(name) ? ' †' : '';
  const missing = services.filter((service) => !readers.includes(service));
  const except = missing.length === 1 ? `all except ${missing[0]}` : readers.join(', ');
  const shown = missing.length === 0 ? 'all' : except;
  return `| \`${name}\`${secret} | ${value} | ${shown} | ${title} |`;
}

/** Returns the text of `docs/reference/settings.md`. */
export function settingsText(): string {
  const names = [...new Set([...Object.keys(common), ...services.flatMap((name) => Object.keys(own[name]))])];
  const isForSome = (name: string) => services.some((service) => settingOf(service, name) === undefined);
  const table = (rows: readonly string[]) =>
    ['| setting | default | services | what it does |', '|---|---|---|---|', ...rows].join('\n');
  const shared = sharedKeySettings.SEALING_KEYS as Setting;
  return `<!-- Written by \`npm run docs\` from the configuration schemas. Change the \`title\` of a setting there. -->

# Settings

For operators: every setting of the services. All are environment variables, and an empty variable counts as unset. A process
that cannot use its settings prints every problem at once, prints no value, and ends with exit code 1.

A setting with † may also be read from a file: set \`REDIS_URL_FILE\` to its path instead of \`REDIS_URL\`. Settings of
\`docker-compose.yml\` are in [the deployment guide](../guides/deploy.md#settings-of-the-compose-file).

## Every service

${table(names.filter((name) => !isForSome(name)).map(rowOf))}

The other variables of [OpenTelemetry's exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/) also
take effect.

## Some services

${table(names.filter(isForSome).map(rowOf))}

## Sealing keys

A sealing key is \`id:key\`. The key is 32 bytes in Base64URL. Separate several keys by commas: the first encrypts, and all decrypt.

## npm start

\`npm start\` runs all services in one process and accepts the settings of all. These differ:

| setting | default | what it does |
|---|---|---|
| \`PUBLIC_URL\` | \`http://localhost:PORT\` | as above |
| \`HTTPS_PORT\` | none | The port of HTTPS for localhost, and then of \`PUBLIC_URL\`, for clients that refuse http. Outside production. The certificate is made at the first start |
| \`ADMIN_PORT\` | any free port | as above, on 127.0.0.1 |
| \`REGISTRY_FILE\` | the registry of the demo | as above |
| \`REDIS_URL\`, \`AMQP_URL\`, \`DATABASE_URL\` | embedded | If unset, the process runs an embedded replacement, whose data is lost when the process ends. Production requires all three. |
| \`SEALING_KEYS\` † | ${shared.$comment ?? ''} | ${shared.title ?? ''} |
`;
}
