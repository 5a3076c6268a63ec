import { readFileSync } from 'node:fs';
import { activeRegistry, parseRegistry, type Registry, withPublicUrl } from '@clinical-launch/contracts';
import { type WatchedFile, watchFile } from './watched-file.ts';

/** Where the registry comes from; it may be another one at each look. */
export type RegistrySource = { readonly current: () => Registry };

/** A registry that stays as it is. */
export function fixedRegistry(registry: Registry): RegistrySource {
  return { current: () => registry };
}

/** What is made of a registry, made again only when the source has another one. */
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
 * Reads the registry file: JSON, in which `${PUBLIC_URL}` stands for the platform's own address.
 * @throws TypeError that lists every fault by its path, or says that the file cannot be read.
 */
export function readRegistryFile(path: string | URL, { publicUrl }: { publicUrl: string }): Registry {
  return readRegistryText(readFileSync(path, 'utf8'), publicUrl);
}

function readRegistryText(text: string, publicUrl: string): Registry {
  return parseRegistry(JSON.parse(withPublicUrl(text, publicUrl)), { publicUrl });
}

type WatchOptions = {
  readonly publicUrl: string;
  /** Refuses a registry that is well formed and may not be used here. @throws Error that says why */
  readonly check?: (registry: Registry) => void;
  /** Told of each registry that took effect after the first. */
  readonly onChange: (registry: Registry) => void;
  /** Told once of each content that cannot be used; the registry before it goes on. */
  readonly onFault: (error: unknown) => void;
  readonly everyMs?: number;
};

export type WatchedRegistry = WatchedFile<Registry>;

/**
 * Reads the registry file and follows its changes, as `watchFile` does.
 * @throws TypeError when the first content cannot be used.
 */
export function watchRegistryFile(
  path: string | URL,
  { publicUrl, check, ...options }: WatchOptions,
): WatchedRegistry {
  const parse = (text: string) => {
    const registry = readRegistryText(text, publicUrl);
    // The suspended entries too: each may be resumed at any time.
    check?.(registry);
    return activeRegistry(registry);
  };
  return watchFile(path, { ...options, parse });
}
