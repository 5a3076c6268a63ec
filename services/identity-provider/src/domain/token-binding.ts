import { withoutUndefined } from '@clinical-launch/contracts/schema';
/** The SHA-256 thumbprints of the key and the certificate that tokens are bound to. */
export type TokenBinding = {
  /** The key of a DPoP proof (RFC 9449). */
  readonly dpopKey: string | undefined;
  /** The client certificate of the connection (RFC 8705). */
  readonly certificate: string | undefined;
};

/**
 * Returns an object with the claim `cnf` of a bound token (RFC 7800 section 3.1). Returns an empty object for
 * an unbound token.
 */
export function confirmationOf({ dpopKey, certificate }: Partial<TokenBinding>) {
  if (dpopKey === undefined && certificate === undefined) return {};
  return {
    cnf: withoutUndefined({ jkt: dpopKey, 'x5t#S256': certificate }),
  };
}
