export { type Clock, systemClock } from './clock.ts';
export {
  assertTimeZone,
  ConfigurationError,
  type Environment,
  originSetting,
  readEnvironment,
  readTogether,
} from './environment.ts';
export {
  createLogger,
  createServiceLogger,
  initialLogLevel,
  type Logger,
  logLevelSetting,
} from './logger.ts';
export { meter, observeOutbox } from './metrics.ts';
export { assertPublicAddresses, isProduction } from './mode.ts';
export { namespaceSettings, namespacesOf } from './namespace-settings.ts';
export { readPatientPseudonyms } from './patient-pseudonyms.ts';
export { deriveFromSealingKeys, readSecretKey } from './secret-key.ts';
