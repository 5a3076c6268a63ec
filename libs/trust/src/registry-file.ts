import { readFileSync } from 'node:fs';
import { withPublicUrl } from '@clinical-launch/contracts/addresses';
import type { Registry } from '@clinical-launch/contracts/registry';
import { activeRegistry, parseRegistry } from '@clinical-launch/contracts/registry-reading';
import { type WatchedFile, watchFile } from './watched-file.ts';

/** The source of the registry, which may change between two reads. */
export type RegistrySource = { readonly current: () => Registry };

/** Returns the source of a registry that never changes. */
export function fixedRegistry(registry: Registry): RegistrySource {
  return { current: () => registry };
}

/** Returns a value derived from a registry, computed again only when the registry changes. */
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
 * @throws TypeError that lists every error by its path, or states that the file cannot be read
 */
export function readRegistryFile(path: string | URL, { publicUrl }: { publicUrl: string }): Registry {
  return readRegistryText(readFileSync(path, 'utf8'), publicUrl);
}

function readRegistryText(text: string, publicUrl: string): Registry {
  return parseRegistry(JSON.parse(withPublicUrl(text, publicUrl)), { publicUrl });
}

type WatchOptions = {
  readonly publicUrl: string;
  /** Refuses a well-formed registry that may not be used here. @throws Error with the reason */
  readonly check?: (registry: Registry) => void;
  /** Called with each registry that took effect after the first. */
  readonly onChange: (registry: Registry) => void;
  /** Called once for each invalid content; the previous registry stays in use. */
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
    // The suspended entries too, because each may be resumed at any time.
    check?.(registry);
    return activeRegistry(registry);
  };
  return watchFile(path, { ...options, parse });
}
