import type { FileFault } from './fault.ts';
import { type Registry, registrySchema } from './registry.ts';
import { contradictionsIn } from './registry-contradictions.ts';
import { compileSchema } from './schema.ts';

const compiled = compileSchema(registrySchema);

type ParseOptions = {
  /** The platform's own address, below which are the issuers of its realms. */
  readonly publicUrl?: string;
};

/**
 * Checks the content of a registry file: its form, that nothing is registered twice, and that no entry
 * contradicts another.
 * @throws TypeError that lists every error by its path, without the hashes of secrets
 */
export function parseRegistry(candidate: unknown, { publicUrl }: ParseOptions = {}): Registry {
  const contradictions = contradictionsIn(candidate, publicUrl);
  if (contradictions.length === 0 && compiled.is(candidate)) return candidate;
  throw registryError([...compiled.faultsOf(candidate), ...contradictions]);
}

/** Returns the registry without its suspended clients and partners, as the services use it. */
export function activeRegistry({ realms, trustedIssuers, ...others }: Registry): Registry {
  return {
    ...others,
    realms: realms.map(({ desktop, ...realm }) => ({
      ...realm,
      clients: realm.clients.filter(isActive),
      ...(desktop === undefined
        ? {}
        : { desktop: { ...desktop, partners: desktop.partners.filter(isActive) } }),
    })),
    ...(trustedIssuers === undefined
      ? {}
      : {
          trustedIssuers: trustedIssuers.map((trusted) => ({
            ...trusted,
            clients: trusted.clients.filter(isActive),
          })),
        }),
  };
}

const isActive = ({ suspended: isSuspended = false }: { readonly suspended?: boolean }) => !isSuspended;

function registryError(faults: readonly FileFault[]): TypeError {
  const described = faults.map(({ path, message }) => `${path} ${message}`);
  return new TypeError(`The registry is invalid:\n  ${described.join('\n  ')}`);
}
