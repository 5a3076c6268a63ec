import { types } from 'node:util';
import { withoutUndefined } from '@clinical-launch/contracts/schema';

/** An error as the log contains it, without the input that caused the error. */
export type LoggedError = {
  readonly type: string;
  readonly message: string;
  /** Contains only the stack frames, because the first lines of an error's own `stack` repeat its message. */
  readonly stack?: string;
  readonly code?: string | number;
  readonly cause?: LoggedError;
  /** The first errors of an AggregateError. */
  readonly errors?: readonly LoggedError[];
  /**
   * The names of further fields, most without their values: `input` of an invalid URL, `command` of a Redis
   * reply.
   */
  readonly [field: string]: unknown;
};

const deepestCause = 5;
const maxErrors = 5;
const maxMessageLength = 500;
const withheld = '[redacted]';

/** Built-in errors whose messages may quote the input, such as errors of JSON.parse. */
const quotingTypes = new Set(['SyntaxError', 'URIError', 'DOMException', 'DataCloneError']);

/**
 * Returns the code of a thrown error, if the error has a code: a name of Node.js, a SQLSTATE, a reply code of
 * AMQP.
 */
export function errorCode(thrown: unknown): string | number | undefined {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
  return isCode(code) ? code : undefined;
}

/** Describes an error for the log, with its causes but without any input that they quote. Never throws. */
export function describeError(thrown: unknown, depth = 0): LoggedError {
  if (!types.isNativeError(thrown)) return { type: typeof thrown, message: withheld };
  const { cause } = thrown;
  const code = errorCode(thrown);
  const errors = 'errors' in thrown && Array.isArray(thrown.errors) ? thrown.errors : [];
  const fields = Object.keys(thrown).filter((name) => !named.has(name) && /^\w{1,40}$/.test(name));
  const isDeepest = depth >= deepestCause;
  return {
    ...Object.fromEntries(fields.map((name) => [name, shownOf(name, thrown)])),
    type: typeOf(thrown),
    message: messageOf(thrown),
    stack: framesOf(thrown),
    ...withoutUndefined({ code }),
    ...(cause === undefined || isDeepest ? {} : { cause: describeError(cause, depth + 1) }),
    ...(errors.length === 0 || isDeepest
      ? {}
      : { errors: errors.slice(0, maxErrors).map((one) => describeError(one, depth + 1)) }),
  };
}

/** Fields that never contain input: how long to wait, and how and where PostgreSQL raised the error. */
const shown = new Set(['retryAfterSeconds', 'severity', 'routine']);

function shownOf(name: string, error: object): unknown {
  const value: unknown = shown.has(name) ? Reflect.get(error, name) : undefined;
  return isCode(value) ? value : withheld;
}

const named = new Set(['name', 'message', 'stack', 'code', 'cause', 'errors', 'type']);

const isCode = (code: unknown): code is string | number =>
  typeof code === 'number' || (typeof code === 'string' && /^[\w.-]{1,40}$/.test(code));

function typeOf({ name, constructor }: Error): string {
  const type = name === 'Error' ? constructor.name : name;
  return /^\w{1,60}$/.test(type) ? type : 'Error';
}

/**
 * Returns the message, unless it may quote input. Messages of the platform and of servers contain no values,
 * but messages of the JavaScript runtime may.
 */
function messageOf(error: Error): string {
  if (isQuoting(error)) return withheld;
  const message = String(error.message)
    // Removes the arguments of an unknown command, which Redis repeats in its message.
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(/\?\S+/g, `?${withheld}`);
  const isOfRuntime = /^(Type|Range|Reference)Error$/.test(error.name);
  const safe = isOfRuntime ? message.replace(/(["'`])(?:(?!\1).)*\1/gs, withheld) : message;
  return safe.slice(0, maxMessageLength);
}

function isQuoting(error: Error): boolean {
  for (let kind: unknown = error; kind instanceof Object; kind = Object.getPrototypeOf(kind)) {
    if (quotingTypes.has(kind.constructor.name)) return true;
  }
  return quotingTypes.has(error.name);
}

function framesOf({ stack = '', message }: Error): string {
  const frames = String(stack);
  const behind = message === '' ? 0 : frames.indexOf(message) + message.length;
  const lines = (behind < message.length ? frames : frames.slice(behind)).split('\n');
  return lines.filter((line) => /^\s+at .*(?::\d+:\d+\)?|\(<anonymous>\)|\(native\))$/.test(line)).join('\n');
}
