import { readFileSync } from 'node:fs';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { readAllowedNetworks } from '@clinical-launch/http/outbound-settings';
import {
  assertTimeZone,
  type Environment,
  isProduction,
  originSetting,
  publicUrlSetting,
  readEnvironment,
  supportLineSetting,
  timeZoneSetting,
} from '@clinical-launch/runtime/environment';
import { xmlNamespaceSetting } from '@clinical-launch/runtime/namespace-settings';

/** The configuration of deliveries to the callback addresses of the clients. */
export type CallbackConfig = {
  /** The public address of the platform. The issuers in the registry contain this address. */
  readonly publicUrl: string;
  /** The address at which this process reaches the platform. If absent, the process uses `publicUrl`. */
  readonly platformUrl?: string;
  /** The networks (CIDR), besides the public internet, to which documents may be posted, even by http. */
  readonly allowedNetworks: readonly string[];
  readonly connectTimeoutMs: number;
  /** The timeout of a whole attempt in milliseconds. */
  readonly timeoutMs: number;
  /** The milliseconds between polls for due deliveries. A process that adds a delivery polls immediately. */
  readonly pollMs: number;
  /** The maximum number of concurrent attempts. */
  readonly slots: number;
};

export type OrderRendererConfig = {
  /** The namespace `{xml_ns}` of the OLTR specification. */
  readonly xmlNamespace: string;
  /** The IANA time zone of the local times in the document. */
  readonly timeZone: string;
  readonly system: { readonly name: string; readonly version: string };
  /** The milliseconds for which a request waits for a document in preparation. */
  readonly documentWaitMs: number;
  readonly callbacks: CallbackConfig;
  /** A line in the footer of every page, for instance with a telephone number. */
  readonly supportLine?: string | undefined;
  readonly isProduction: boolean;
};

/** The settings of the order renderer itself. Shared libraries read further settings. */
export const orderRendererSettings = Type.Object({
  XML_NS: xmlNamespaceSetting,
  TIME_ZONE: timeZoneSetting,
  SUPPORT_LINE: supportLineSetting,
  PUBLIC_URL: publicUrlSetting,
  PLATFORM_URL: Type.Optional(
    originSetting(
      'The address at which this process reaches `PUBLIC_URL`. Without it, the process uses `PUBLIC_URL` itself.',
    ),
  ),
});

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError with the names of the invalid variables, without their values
 */
export function readOrderRendererConfig(environment: Environment): OrderRendererConfig {
  const read = readEnvironment(orderRendererSettings, environment);
  assertTimeZone(read.TIME_ZONE);
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(manifest);
  return Object.freeze({
    xmlNamespace: read.XML_NS,
    timeZone: read.TIME_ZONE,
    system: { name: 'Clinical Launch', version },
    documentWaitMs: 10_000,
    callbacks: {
      publicUrl: read.PUBLIC_URL,
      ...withoutUndefined({ platformUrl: read.PLATFORM_URL }),
      allowedNetworks: readAllowedNetworks(environment),
      connectTimeoutMs: 5000,
      timeoutMs: 15_000,
      pollMs: 5000,
      slots: 16,
    },
    supportLine: read.SUPPORT_LINE,
    isProduction: isProduction(environment),
  });
}
