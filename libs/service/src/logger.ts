import { types } from 'node:util';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

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
const redacted = '[redacted]';
const isRedacted = new Set(redactedFields);

/** Creates the log of a process: JSON lines on standard output, times in ISO 8601. */
export function createLogger({
  level = 'info',
  destination,
}: {
  level?: string;
  destination?: DestinationStream;
} = {}): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: (fields) => redactFields(fields) },
    // For the bindings of child loggers, which no formatter sees.
    redact: { paths: redactedFields, censor: redacted },
    serializers: { err: (error: Error) => redactFields(pino.stdSerializers.err(error)) },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** A copy without the redacted fields, at any depth. Pino's `redact` needs a path for each depth and slows with it. */
function redactFields(fields: object, done = new Map<object, unknown>()): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      isRedacted.has(name) ? redacted : redactValue(value, done),
    ]),
  );
}

function redactValue(value: unknown, done: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // Errors are for their serializer; what has a JSON form of its own (a Date) keeps it.
  if (types.isNativeError(value) || 'toJSON' in value) return value;
  if (!done.has(value)) {
    done.set(value, '[circular]');
    const copy = Array.isArray(value)
      ? value.map((entry) => redactValue(entry, done))
      : redactFields(value, done);
    done.set(value, copy);
  }
  return done.get(value);
}
