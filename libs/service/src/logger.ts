import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/**
 * Fields that are never written, wherever a log call puts them. Patient data has no place in a log call at all;
 * this is the second line of defence.
 */
const redactedFields = [
  'authorization',
  'cookie',
  'client_secret',
  'code_verifier',
  'codeVerifier',
  'launchToken',
  'ticket',
  'access_token',
  'patient',
  'payload',
  'body',
  'context',
];

/** Creates the log of a process: JSON lines on standard output, times in ISO 8601. */
export function createLogger({
  level = 'info',
  destination,
}: {
  level?: string;
  destination?: DestinationStream;
} = {}): Logger {
  const options = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: redactedFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
      censor: '[redacted]',
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
