import { optionalText, Type } from '@clinical-launch/contracts/type';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { requestsPerSecondPerSession } from '@clinical-launch/limits/rate-limit';
import { readPatientPseudonyms } from '@clinical-launch/process/patient-pseudonyms';
import {
  assertTimeZone,
  ConfigurationError,
  publicUrlSetting,
  readEnvironment,
  readTogether,
  supportLineSetting,
  timeZoneSetting,
} from '@clinical-launch/runtime/environment';
import { readCatalogues } from './catalogue-file.ts';
import type { Catalogues } from './domain/catalogues.ts';

export type OrderingConfig = {
  /** The address that browsers use, without a path: `https://launch.example.org` */
  readonly publicUrl: string;
  readonly catalogues: Catalogues;
  /** The IANA time zone of the practices, in which pages show times and a patient's age is calculated. */
  readonly timeZone: string;
  readonly supportLine?: string | undefined;
  readonly pseudonyms: PatientPseudonyms;
  /**
   * The maximum number of HTTP requests of one launch session per second and process. If absent, there is no
   * limit.
   */
  readonly requestsPerSecondPerSession?: number;
};

/** The settings of ordering itself. Shared libraries read further settings. */
export const orderingSettings = Type.Object({
  PUBLIC_URL: publicUrlSetting,
  TIME_ZONE: timeZoneSetting,
  SUPPORT_LINE: supportLineSetting,
  CATALOGUE_FILE: optionalText({
    title:
      'A catalogue of tests, or a folder of several catalogues. If unset, the service uses the catalogue that it ships with.',
  }),
});

/**
 * Reads the service's configuration from the environment, and the catalogues.
 * @throws ConfigurationError that names the invalid variables without their values
 */
export function readOrderingConfig(
  environment: Readonly<Record<string, string | undefined>>,
): OrderingConfig {
  const { settings, pseudonyms } = readTogether({
    settings: () => readSettings(environment),
    pseudonyms: () => readPatientPseudonyms(environment),
  });
  return Object.freeze({ ...settings, pseudonyms, requestsPerSecondPerSession });
}

function readSettings(environment: Readonly<Record<string, string | undefined>>) {
  const read = readEnvironment(orderingSettings, environment);
  assertTimeZone(read.TIME_ZONE);
  return {
    publicUrl: read.PUBLIC_URL,
    timeZone: read.TIME_ZONE,
    supportLine: read.SUPPORT_LINE,
    catalogues: readCataloguesFor(read.CATALOGUE_FILE),
  };
}

function readCataloguesFor(path: string | undefined): Catalogues {
  try {
    return readCatalogues(path);
  } catch (cause) {
    // The errors of a catalogue name paths in the catalogue, never a value of the environment.
    const reason = cause instanceof TypeError ? cause.message : 'cannot be read as JSON';
    throw new ConfigurationError([`CATALOGUE_FILE ${reason}`], { cause });
  }
}
