import type { Fault } from '@clinical-launch/contracts';
import express, { type Request, type Response } from 'express';
import { ServiceError } from './errors.ts';
import { scanJson } from './json-scan.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

type BodyOptions = { readonly types: readonly string[]; readonly limitBytes: number };

/**
 * Reads a JSON body strictly: UTF-8 only, no duplicate names, bounded depth and size.
 * @throws ServiceError 415 for another media type, charset or an encoding, 413 for too many bytes, 400 otherwise.
 */
export async function readJson(request: Request, response: Response, options: BodyOptions): Promise<unknown> {
  const text = await readText(request, response, options);
  const fault = scanJson(text);
  if (fault !== undefined) throw unreadable(fault);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable('is not JSON', cause);
  }
}

/**
 * Reads a form (application/x-www-form-urlencoded) as the list of its fields, in order, repeated names included.
 * @throws ServiceError 415, 413 or 400.
 */
export async function readForm(
  request: Request,
  response: Response,
  limitBytes = 64 * 1024,
): Promise<URLSearchParams> {
  const text = await readText(request, response, {
    types: ['application/x-www-form-urlencoded'],
    limitBytes,
  });
  return new URLSearchParams(text);
}

async function readText(
  request: Request,
  response: Response,
  { types, limitBytes }: BodyOptions,
): Promise<string> {
  assertMediaType(request, types);
  const bytes = await readBytes(request, response, limitBytes);
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw unreadable('is not UTF-8', cause);
  }
}

function assertMediaType(request: Request, types: readonly string[]): void {
  const [type = '', ...parameters] = (request.get('content-type') ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  const encoding = request.get('content-encoding') ?? 'identity';
  if (types.includes(type.trim()) && isUtf8 && encoding === 'identity') return;
  throw new ServiceError({
    status: 415,
    code: 'unsupported_media_type',
    message: `Send the body as ${types.join(' or ')}, in UTF-8, without a Content-Encoding`,
  });
}

function readBytes(request: Request, response: Response, limitBytes: number): Promise<Buffer> {
  const parse = express.raw({ type: () => true, limit: limitBytes, inflate: false });
  return new Promise((resolve, reject) => {
    parse(request, response, (error?: unknown) => {
      if (error === undefined) return resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
      reject(isTooLarge(error) ? tooLarge(limitBytes) : unreadable('ended before it was complete', error));
    });
  });
}

const isTooLarge = (error: unknown) =>
  error instanceof Error && 'type' in error && error.type === 'entity.too.large';

const tooLarge = (limitBytes: number) =>
  new ServiceError({
    status: 413,
    code: 'too_large',
    message: `The body must have at most ${limitBytes} bytes`,
    // What is left of the body was thrown away; its sender may not have more on this connection.
    headers: { Connection: 'close' },
  });

function unreadable(message: string, cause?: unknown): ServiceError {
  const faults: Fault[] = [{ path: '', message: `The body ${message}` }];
  return new ServiceError({
    status: 400,
    code: 'invalid_request',
    message: 'The body cannot be read',
    faults,
    cause,
  });
}
