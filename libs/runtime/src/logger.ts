import { readFileSync } from 'node:fs';
import { types } from 'node:util';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { Type } from '@clinical-launch/contracts/type';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { describeError } from './logged-error.ts';
import { currentSpan, type SpanContext } from './tracing.ts';

export type { Logger } from 'pino';

/**
 * Fields that are never written, at any depth of a log call. Log calls must not contain patient data. This is
 * the second line of defence.
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

const levels = [...Object.keys(pino.levels.values), 'silent'];

/** The setting `LOG_LEVEL`: the lowest severity that is written. */
export const logLevelSetting = Type.String({
  default: 'info',
  title:
    'The least severe log lines that are written: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  pattern: `^(${levels.join('|')})$`,
  description: `must be ${levels.slice(0, -1).join(', ')} or ${levels.at(-1)}`,
});

/**
 * Returns the log level to use before the configuration is checked. If `LOG_LEVEL` is invalid, returns
 * `info`.
 */
export function initialLogLevel(level: string | undefined): string {
  return level !== undefined && levels.includes(level) ? level : 'info';
}

/** The maximum milliseconds that a line waits, so that several lines are written together. */
const writeEveryMs = 100;
let output: ReturnType<typeof pino.destination> | undefined;

/**
 * Returns standard output, which writes several lines at once, because a system call for each line takes a
 * tenth of the time of a launch. Waiting lines are written when the process ends. If the process is killed,
 * these lines are lost, but the audit trail does not depend on the log.
 */
function standardOutput() {
  if (output !== undefined) return output;
  const opened = pino.destination({ dest: 1, sync: true, minLength: 8192, periodicFlush: writeEveryMs });
  // Without a reader, nobody would see what a process does. `flushSync` alone would then write for ever.
  for (const stream of [opened, process.stdout]) stream.on('error', () => process.exit(1));
  process.on('exit', () => {
    opened.flush();
    opened.flushSync();
  });
  output = opened;
  return opened;
}

/** The loggers of requests, whose lines already contain their trace. */
const ofRequests = new WeakSet<object>();

/** Creates the log of one request. Each of its lines contains `fields`. */
export function createRequestLogger(logger: Logger, fields: object): Logger {
  const own = logger.child(fields);
  ofRequests.add(own);
  return own;
}

/** Returns the fields that link a line to its trace, as in the log data model of OpenTelemetry. */
export const traceFields = ({ traceId, spanId }: Pick<SpanContext, 'traceId' | 'spanId'>) => ({
  trace_id: traceId,
  span_id: spanId,
});

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
    // Does not redact `err`, because the serializer below does. Pino also calls it for child loggers.
    formatters: {
      log: ({ err, ...fields }) => ({ ...redactFields(fields), ...withoutUndefined({ err }) }),
    },
    mixin(_fields, _level, logger) {
      const span = ofRequests.has(logger) ? undefined : currentSpan();
      return span === undefined ? {} : traceFields(span);
    },
    // Redacts the bindings of child loggers, which formatters do not receive.
    redact: { paths: redactedFields, censor: redacted },
    serializers: { err: (thrown: unknown) => describeError(thrown) },
    hooks: {
      logMethod([first, ...others], method) {
        // Without this branch, pino would use the error's message as the message of the line.
        if (types.isNativeError(first) && others.length === 0) method.call(this, { err: first }, 'failed');
        else method.call(this, first, ...others);
      },
    },
  };
  return pino(options, destination ?? standardOutput());
}

/** Creates the log of a service, whose lines name the service and its version. */
export const createServiceLogger = (service: string, options?: Parameters<typeof createLogger>[0]): Logger =>
  createLogger(options).child({ service, version });

/**
 * Returns a copy without the redacted fields, at any depth. Pino's `redact` needs a path for each depth, and
 * each path makes it slower.
 */
function redactFields(fields: object, done = new Map<object, unknown>()): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      isRedacted.has(name) ? redacted : redactValue(value, done),
    ]),
  );
}

function redactValue(value: unknown, done: Map<object, unknown>): unknown {
  if (types.isNativeError(value)) return describeError(value);
  if (typeof value !== 'object' || value === null) return value;
  // A value with its own JSON form, such as a Date, is returned unchanged.
  if ('toJSON' in value) return value;
  if (!done.has(value)) {
    done.set(value, '[circular]');
    const copy = Array.isArray(value)
      ? value.map((entry) => redactValue(entry, done))
      : redactFields(value, done);
    done.set(value, copy);
  }
  return done.get(value);
}

export const { version } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string };
