import { issuerOf, realmUrl } from '@clinical-launch/contracts/addresses';
import type {
  DesktopRealm,
  Realm,
  RegisteredClient,
  RegisteredPartner,
  Registry,
} from '@clinical-launch/contracts/registry';

export type SigningAlgorithm = NonNullable<Realm['signingAlgorithm']>;

/** The settings of a realm from the registry, completed with defaults. */
export type IssuingRealm = {
  /** The name in the registry. The issuer URL contains this name. */
  readonly name: string;
  readonly issuer: string;
  /** The public address of the realm. The endpoints of the realm are below this address. */
  readonly baseUrl: string;
  readonly signingAlgorithm: SigningAlgorithm;
  readonly accessTokenSeconds: number;
  readonly clients: ReadonlyMap<string, RegisteredClient>;
  /** The settings of a realm with desktop launches. Absent in other realms. */
  readonly desktop?: DesktopSettings;
};

export type DesktopSettings = {
  readonly launchIdentifierSeconds: number;
  readonly authorizationCodeSeconds: number;
  readonly refreshTokenSeconds: number;
  /** The seconds from the issue of a launch identifier to the end of all its codes and tokens. */
  readonly sessionSeconds: number;
  readonly sendsIssuer: boolean;
  readonly partners: ReadonlyMap<string, RegisteredPartner>;
};

export type DesktopIssuingRealm = IssuingRealm & { readonly desktop: DesktopSettings };

export type Realms = {
  all(): readonly IssuingRealm[];
  /**
   * Returns the realm of a path. Ignores the case of segments and a leading `tfp`, because some clients write
   * the authority in lower case and with this prefix.
   */
  find(segments: readonly string[]): IssuingRealm | undefined;
};

/** Creates the lookup of realms. @param byName returns the realms of the current registry by name */
export function createRealms(byName: () => ReadonlyMap<string, IssuingRealm>): Realms {
  return {
    all: () => [...byName().values()],
    find(segments) {
      const [first = '', ...rest] = segments.map((segment) => segment.toLowerCase());
      const realms = byName();
      return (
        realms.get([first, ...rest].join('/')) ?? (first === 'tfp' ? realms.get(rest.join('/')) : undefined)
      );
    },
  };
}

/** Returns the realms of a registry by name. @param publicUrl the public address of the platform */
export function realmsByName({ realms }: Registry, publicUrl: string): ReadonlyMap<string, IssuingRealm> {
  return new Map(
    realms.map(({ realm, signingAlgorithm = 'RS256', accessTokenSeconds = 3600, clients, desktop }) => [
      realm,
      {
        name: realm,
        issuer: issuerOf(publicUrl, realm),
        baseUrl: realmUrl(publicUrl, realm),
        signingAlgorithm,
        accessTokenSeconds,
        clients: new Map(clients.map((client) => [client.clientId, client])),
        ...(desktop === undefined ? {} : { desktop: desktopSettings(desktop) }),
      },
    ]),
  );
}

function desktopSettings({
  launchIdentifierSeconds = 5 * 60,
  authorizationCodeSeconds = 60,
  refreshTokenSeconds = 8 * 3600,
  sessionSeconds = 12 * 3600,
  sendsIssuer = true,
  partners,
}: DesktopRealm): DesktopSettings {
  return {
    launchIdentifierSeconds,
    authorizationCodeSeconds,
    refreshTokenSeconds,
    sessionSeconds,
    sendsIssuer,
    partners: new Map(partners.map((partner) => [partner.clientId, partner])),
  };
}
