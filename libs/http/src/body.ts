import type { IncomingMessage } from 'node:http';
import type { Fault, FaultCode } from '@clinical-launch/contracts/fault';
import { createHold } from './bodies-in-flight.ts';
import { type Call, networkOf, plainAddress } from './call.ts';
import type { Exchange } from './endpoint.ts';
import { ServiceError } from './errors.ts';
import { findJsonSyntaxFault, type JsonFault, placeIn } from './json-syntax.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * The maximum number of fields of a form. The largest form of the platform has fewer. The number is limited
 * because decoding is costly and each look-up of a field scans all fields.
 */
const maxFields = 1000;

const formType = 'application/x-www-form-urlencoded';

/** A body of at most this size must arrive within five seconds. The server ends every request after fifteen. */
const smallBytes = 64 * 1024;
const smallBodyMs = 5000;

/** A request whose body was not read yet. Without `call`, the caller is the network of the connection. */
export type Unread = Pick<Exchange, 'request' | 'response'> & {
  readonly call?: Pick<Call, 'identity' | 'address'> & Partial<Pick<Call, 'place'>>;
};

type BodyOptions = { readonly types: readonly string[]; readonly limitBytes: number };

/**
 * Reads a JSON body strictly. Accepts only UTF-8, no duplicate names, and a limited depth and size. The error
 * for an invalid body contains line and column.
 * @throws ServiceError 415 if the media type, the charset or a Content-Encoding is not accepted, 413 if the
 *   body has too many bytes, and 400 for all other errors
 */
export async function readJson(exchange: Unread, options: BodyOptions): Promise<unknown> {
  const text = await readText(exchange, options);
  const fault = scanJson(text);
  if (fault !== undefined) throw unreadable(placed(fault, text));
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(placed(findJsonSyntaxFault(text), text), cause);
  }
}

function placed({ at, message, code }: JsonFault, text: string): Unreadable {
  const { line, column } = placeIn(text, at);
  return { message: `${message}, at line ${line}, column ${column}`, code };
}

/**
 * Reads a form (application/x-www-form-urlencoded) as an ordered list of fields, which may have the same
 * name.
 * @throws ServiceError 415 or 413, as `readJson` does, and 400 if the form is not UTF-8 or has more than
 * 1,000 fields
 */
export async function readForm(exchange: Unread, limitBytes = smallBytes): Promise<URLSearchParams> {
  const text = await readText(exchange, { types: [formType], limitBytes });
  if (isSplitMoreOften(text, '&', maxFields - 1))
    throw unreadable({ message: `has more than ${maxFields} fields`, code: 'too-costly' });
  return new URLSearchParams(text);
}

function isSplitMoreOften(text: string, separator: string, times: number): boolean {
  let count = 0;
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) {
    count += 1;
    if (count > times) return true;
  }
  return false;
}

async function readText(exchange: Unread, { types, limitBytes }: BodyOptions): Promise<string> {
  assertMediaType(exchange.request, types);
  const bytes = await readBytes(exchange, limitBytes);
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw unreadable({ message: 'is not UTF-8', code: 'structure' }, cause);
  }
}

function assertMediaType({ headers }: IncomingMessage, types: readonly string[]): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  // The type of a form has no charset, which Java's clients still name, and a form is ASCII (WHATWG URL).
  const isUtf8 = type.trim() === formType || charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  const isPlain = (headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity';
  if (types.includes(type.trim()) && isUtf8 && isPlain) return;
  throw new ServiceError({
    code: 'unsupported_media_type',
    message: `Send the body as ${types.join(' or ')}, in UTF-8, without a Content-Encoding`,
    // RFC 9110 section 15.5.16
    headers: isPlain ? { 'Accept-Post': types.join(', ') } : { 'Accept-Encoding': 'identity' },
  });
}

/**
 * Reads the bytes of a body up to a limit. Does not read a body whose Content-Length exceeds the limit. Stops
 * reading a chunked body at the limit. Counts the bytes until the request is answered. Only this function
 * answers `Expect: 100-continue`, after it has checked Content-Length.
 * @throws ServiceError 413 if the body is too large, 408 if it is too slow, 503 if the process or the caller
 *   has too many bytes in bodies, and 400 if the body ended early
 */
export function readBytes({ request, response, call }: Unread, limitBytes: number): Promise<Buffer> {
  const stated = request.headers['content-length'];
  const reading = new Promise<Buffer>((resolve, reject) => {
    if (Number(stated) > limitBytes) return reject(tooLarge(limitBytes));
    if (isAwaitingContinue(request)) {
      response.removeHeader('Connection');
      response.writeContinue();
    }
    const address = plainAddress(call?.address ?? request.socket.remoteAddress);
    const hold = createHold(call?.identity ?? networkOf(address), response);
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = (error: ServiceError) => {
      request.off('data', onData).pause();
      chunks.length = 0;
      reject(error);
    };
    const isSmall = Number(stated ?? limitBytes) <= smallBytes;
    const slow = isSmall ? setTimeout(() => stop(tooSlow()), smallBodyMs) : undefined;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > limitBytes) stop(tooLarge(limitBytes));
      else if (!hold(chunk.length)) stop(tooManyBodies());
    };
    const onEarlyEnd = (cause?: unknown) =>
      reject(unreadable({ message: 'ended before it was complete', code: 'structure' }, cause));
    const onEnd = () => {
      // Every request emits `close` when it ends. After the event `end`, `close` is not an error.
      request.off('close', onEarlyEnd);
      clearTimeout(slow);
      resolve(Buffer.concat(chunks.splice(0), length));
    };
    request.on('data', onData).once('end', onEnd).once('error', onEarlyEnd).once('close', onEarlyEnd);
    response.once('close', () => clearTimeout(slow));
  });
  // Slow bodies must not take the places of launches.
  return call?.place?.yieldWhile(reading) ?? reading;
}

const tooLarge = (limitBytes: number) =>
  new ServiceError({
    code: 'too_large',
    message: `The body must have at most ${limitBytes} bytes`,
    // The rest of the body is not read, so the connection cannot be used for another request.
    headers: { Connection: 'close' },
  });

const tooSlow = () =>
  new ServiceError({
    code: 'invalid_request',
    status: 408,
    message: `Send a body of at most ${smallBytes} bytes within ${smallBodyMs / 1000} seconds`,
    headers: { Connection: 'close' },
  });

const tooManyBodies = () =>
  new ServiceError({
    code: 'temporarily_unavailable',
    message: 'Too many bodies are being sent at the same time. Try again',
    headers: { 'Retry-After': '1', Connection: 'close' },
  });

type Unreadable = { readonly message: string; readonly code: FaultCode };

function unreadable({ message, code }: Unreadable, cause?: unknown): ServiceError {
  const faults: Fault[] = [{ path: '', message: `The body ${message}`, code }];
  return new ServiceError({
    code: 'invalid_request',
    message: 'The body could not be read',
    faults,
    cause,
  });
}

/** Returns true if the client sends its body only after a 100 Continue (RFC 9110 section 10.1.1). */
function isAwaitingContinue({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.expect?.toLowerCase() === '100-continue';
}

const maxDepth = 64;
/**
 * The maximum number of members, and of objects and lists together. The largest body of the platform has far
 * fewer. The byte limit is not enough, because reading a member or a container costs more than reading bytes.
 */
const maxParts = 10_000;

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Finds content that JSON.parse accepts but that no correct client sends:
 *
 * - nesting deeper than 64 levels, which can overflow stacks
 * - an object that contains a name twice, which two readers may interpret differently (RFC 8259 section 4)
 * - more than 10,000 members, or more than 10,000 objects and lists
 *
 * Reads each character and decodes each name once, so the time grows linearly with the length of the text.
 * Does not decide whether the text is valid JSON.
 * @returns the first error, or undefined
 */
export function scanJson(text: string): JsonFault | undefined {
  // Contains an entry for each open container: the names found in an object, or undefined for an array.
  const open: (Set<string> | undefined)[] = [];
  let last: string | undefined;
  let members = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at);
        last = text.slice(at, end + 1);
        at = end;
        break;
      }
      case colon: {
        const names = open.at(-1);
        if (names === undefined || last === undefined) break;
        members += 1;
        if (members > maxParts) return tooCostly(at, `has more than ${maxParts} members`);
        const name = nameOf(last);
        // A string names only one member. If more colons follow, the same string must not be decoded again.
        last = undefined;
        if (names.has(name)) return { at, message: 'names a member of an object twice', code: 'duplicate' };
        names.add(name);
        break;
      }
      case openBrace:
      case openBracket:
        containers += 1;
        if (containers > maxParts) return tooCostly(at, `has more than ${maxParts} objects and lists`);
        if (open.length === maxDepth) return tooCostly(at, `is nested deeper than ${maxDepth} levels`);
        open.push(text.charCodeAt(at) === openBrace ? new Set() : undefined);
        break;
      case closeBrace:
      case closeBracket:
        open.pop();
        break;
      default:
    }
  }
  return undefined;
}

const tooCostly = (at: number, message: string): JsonFault => ({ at, message, code: 'too-costly' });

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}

/** Decodes a name, so that two spellings of a name (`a`, `\u0061`) give the same text. */
function nameOf(literal: string): string {
  if (!literal.includes('\\')) return literal;
  try {
    return `"${String(JSON.parse(literal))}"`;
  } catch {
    return literal;
  }
}
