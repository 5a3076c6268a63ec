import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { withPublicUrl } from '@clinical-launch/contracts/addresses';
import type { Registry } from '@clinical-launch/contracts/registry';
import { activeRegistry, parseRegistry } from '@clinical-launch/contracts/registry-reading';
import type { Logger } from '@clinical-launch/runtime/logger';
import { startLoop } from '@clinical-launch/runtime/loop';
import { assertProductionRegistry } from './production-registry.ts';

/** The source of a registry that may change between two reads. */
export type RegistrySource = { readonly current: () => Registry };

/** Returns the source of a registry that never changes. */
export function fixedRegistry(registry: Registry): RegistrySource {
  return { current: () => registry };
}

/**
 * Returns a function that returns a value derived from the registry. Computes the value again only when the
 * registry changes.
 */
export function followRegistry<Made>(source: RegistrySource, make: (registry: Registry) => Made): () => Made {
  let from = source.current();
  let made = make(from);
  return () => {
    const registry = source.current();
    if (registry !== from) {
      made = make(registry);
      from = registry;
    }
    return made;
  };
}

/**
 * Reads the registry file: JSON, in which `${PUBLIC_URL}` is the platform's own address.
 * @throws TypeError that lists every error by its path, SyntaxError if the file is not JSON, or the error of
 *   the system if the file cannot be read
 */
export function readRegistryFile(path: string | URL, { publicUrl }: { publicUrl: string }): Registry {
  return readRegistryText(readFileSync(path, 'utf8'), publicUrl);
}

function readRegistryText(text: string, publicUrl: string): Registry {
  return parseRegistry(JSON.parse(withPublicUrl(text, publicUrl)), { publicUrl });
}

type WatchOptions = {
  readonly publicUrl: string;
  /** Refuses a well-formed registry that this process may not use. @throws Error with the reason */
  readonly check?: (registry: Registry) => void;
  /** Called with each registry that takes effect after the first registry. */
  readonly onChange: (registry: Registry) => void;
  /** Called once for each invalid content. The previous registry stays in use. */
  readonly onFault: (error: unknown) => void;
  readonly everyMs?: number;
};

export type WatchedRegistry = WatchedFile<Registry>;

/**
 * Reads the registry file and follows its changes, as `watchFile` does.
 * @throws TypeError when the first content is invalid
 */
export function watchRegistryFile(
  path: string | URL,
  { publicUrl, check, ...options }: WatchOptions,
): WatchedRegistry {
  const parse = (text: string) => {
    const registry = readRegistryText(text, publicUrl);
    // Checks suspended entries too, because each may be resumed at any time.
    check?.(registry);
    return activeRegistry(registry);
  };
  return watchFile(path, { ...options, parse });
}

type WatchedFileOptions<Content> = {
  /** Reads the text of the file. @throws Error when the content is invalid */
  readonly parse: (text: string) => Content;
  /** Called with each content that takes effect after the first content. */
  readonly onChange: (content: Content) => void;
  /** Called once for each invalid text. The previous content stays in use. */
  readonly onFault: (error: unknown) => void;
  readonly everyMs?: number;
};

/** The current content of a file. `stop` ends the polling and leaves the last content in effect. */
export type WatchedFile<Content> = { readonly current: () => Content; stop(): void };

/**
 * Reads a file and polls it for changes. A new text takes effect if it is valid and was read twice, so that a
 * file is never used while it is being written. Compares the text, because mounted and copied files may keep
 * their modification times.
 * @throws Error when the file cannot be read or its first content is invalid
 */
export function watchFile<Content>(
  path: string | URL,
  { parse, onChange, onFault, everyMs = 2000 }: WatchedFileOptions<Content>,
): WatchedFile<Content> {
  let judged = readFileSync(path, 'utf8');
  let current = parse(judged);
  let seen = judged;

  const judge = (text: string) => {
    judged = text;
    try {
      current = parse(text);
    } catch (error) {
      return onFault(error);
    }
    onChange(current);
  };
  const look = async (stopping: AbortSignal) => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => error);
    if (stopping.aborted) return;
    // Reports a missing file once, as it does an invalid one.
    const now = typeof text === 'string' ? text : String(text);
    if (now !== judged && now === seen) {
      if (typeof text === 'string') judge(text);
      else {
        judged = now;
        onFault(text);
      }
    }
    seen = now;
  };
  const loop = startLoop({ work: look, everyMs, ref: false, onFailure: onFault });
  return { current: () => current, stop: () => void loop.stop() };
}

type WatchRegistryOptions = {
  readonly publicUrl: string;
  readonly logger: Logger;
  /** Whether each content must also be valid for production. */
  readonly isProduction: boolean;
  /**
   * Refuses a registry that this process cannot use. Called before each registry takes effect. @throws Error
   */
  readonly check?: ((registry: Registry) => void) | undefined;
};

/**
 * Follows the registry file of a process. Logs each change. If the file is invalid, logs an error and keeps
 * the last valid registry.
 * @throws TypeError when the first content is invalid
 */
export function watchRegistry(
  path: string | URL,
  { publicUrl, logger, isProduction, check }: WatchRegistryOptions,
): WatchedRegistry {
  return watchRegistryFile(path, {
    publicUrl,
    check(registry) {
      if (isProduction) assertProductionRegistry(registry);
      check?.(registry);
    },
    onChange: () => logger.info('the changed registry is in use'),
    onFault: (error) =>
      logger.error({ err: error }, 'the changed registry is invalid, so the previous registry stays in use'),
  });
}

type OpenRegistryOptions = Omit<WatchRegistryOptions, 'logger'> & { readonly path: string };

/** Opens the registry of a process as a part that stops with it (`watchRegistry`). @throws TypeError */
export function openRegistry({ path, ...options }: OpenRegistryOptions, { logger }: { logger: Logger }) {
  const registry = watchRegistry(path, { ...options, logger });
  return { registry, checks: {}, stop: async () => registry.stop() };
}
