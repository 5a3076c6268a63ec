import { readFileSync } from 'node:fs';
import { defaultXmlNamespace } from '@clinical-launch/contracts';
import { ConfigurationError, readEnvironment } from '@clinical-launch/service';
import { Type } from 'typebox';

export type OrderRendererConfig = {
  /** {xml_ns} of the OLTR specification */
  readonly xmlNamespace: string;
  /** IANA zone in whose local time the document is written. */
  readonly timeZone: string;
  /** What the document names as the system that made it. */
  readonly system: { readonly name: string; readonly version: string };
  /** How long a reader is kept waiting for a document that is still being made. */
  readonly documentWaitMs: number;
  readonly isProduction: boolean;
};

const environmentSchema = Type.Object({
  XML_NS: Type.String({ default: defaultXmlNamespace }),
  TIME_ZONE: Type.String({ default: 'Europe/London' }),
  SYSTEM_NAME: Type.String({ default: 'Clinical Launch' }),
  NODE_ENV: Type.Optional(Type.String()),
});

/**
 * Reads the service's configuration from the environment.
 * @throws TypeError that names the faulty variables and prints no value.
 */
export function readOrderRendererConfig(
  environment: Readonly<Record<string, string | undefined>>,
): OrderRendererConfig {
  const { XML_NS, TIME_ZONE, SYSTEM_NAME, NODE_ENV } = readEnvironment(environmentSchema, environment);
  assertTimeZone(TIME_ZONE);
  return Object.freeze({
    xmlNamespace: XML_NS,
    timeZone: TIME_ZONE,
    system: { name: SYSTEM_NAME, version: packageVersion() },
    documentWaitMs: 10_000,
    isProduction: NODE_ENV === 'production',
  });
}

function assertTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (cause) {
    throw new ConfigurationError(['TIME_ZONE must be a time zone of the IANA database'], {
      cause,
    });
  }
}

function packageVersion(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}
