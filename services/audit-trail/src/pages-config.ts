import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { optionalText, type Static, Type } from '@clinical-launch/contracts/type';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { readAllowedNetworks } from '@clinical-launch/http/outbound-settings';
import {
  assertTimeZone,
  ConfigurationError,
  type Environment,
  isProduction,
  publicUrlSetting,
  readEnvironment,
  supportLineSetting,
  timeZoneSetting,
} from '@clinical-launch/runtime/environment';

/** The configuration of the pages for the support desk and privacy officers. */
export type AuditPagesConfig = {
  /** The address that browsers use, without a path. */
  readonly publicUrl: string;
  /** The address at which this process reaches the platform: `PLATFORM_URL`, or `publicUrl` by default. */
  readonly platformUrl: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly rightClaim: string;
  /** Seals the cookies of the pages, and callers' identifiers in addresses. */
  readonly sealer: Sealer;
  /** The IANA time zone of the times on the pages. */
  readonly timeZone: string;
  readonly supportLine?: string | undefined;
  /** The networks, besides the public internet, in which the issuer may be. */
  readonly allowedNetworks: readonly string[];
};

const demoIssuerPath = '/demo/staff';
const demoClientId = 'audit-pages';

const address = { pattern: '^https?://[^\\s?#]+$', description: 'must be an http or https address' };
export const auditPagesSettings = Type.Object({
  PUBLIC_URL: Type.Optional(publicUrlSetting),
  PLATFORM_URL: optionalText(address),
  AUDIT_OIDC_ISSUER: optionalText({
    ...address,
    title:
      'The OpenID Connect issuer at which staff sign in to `/audit/`. Without it, the demo uses its own issuer, and production has no pages.',
  }),
  AUDIT_OIDC_CLIENT_ID: optionalText({
    maxLength: 200,
    title: 'The client id of the platform at the issuer of the staff. Required with `AUDIT_OIDC_ISSUER`.',
  }),
  AUDIT_OIDC_CLIENT_SECRET: optionalText({
    title: 'The client secret at the issuer of the staff. Without it, the platform is a public client.',
  }),
  AUDIT_RIGHT_CLAIM: Type.String({
    default: 'roles',
    maxLength: 200,
    title:
      'The claim of the ID token or UserInfo response that contains `audit.read` for staff who may read the audit trail.',
  }),
  TIME_ZONE: timeZoneSetting,
  SUPPORT_LINE: supportLineSetting,
});

/**
 * Reads the configuration of the pages, except the sealer, which needs the keys of the log. Returns undefined
 * without `PUBLIC_URL`, and in production without an issuer: there are no pages then.
 * @throws ConfigurationError with the names of the invalid variables, without their values
 */
export function readAuditPagesConfig(environment: Environment): Omit<AuditPagesConfig, 'sealer'> | undefined {
  const read = readEnvironment(auditPagesSettings, environment);
  assertTimeZone(read.TIME_ZONE);
  const client = clientOf(read, isProduction(environment));
  if (read.PUBLIC_URL === undefined || client === undefined) return undefined;
  return {
    publicUrl: read.PUBLIC_URL,
    platformUrl: read.PLATFORM_URL ?? read.PUBLIC_URL,
    ...client,
    rightClaim: read.AUDIT_RIGHT_CLAIM,
    timeZone: read.TIME_ZONE,
    supportLine: read.SUPPORT_LINE,
    allowedNetworks: readAllowedNetworks(environment),
  };
}

function clientOf(read: Static<typeof auditPagesSettings>, production: boolean) {
  const { PUBLIC_URL: publicUrl = '', AUDIT_OIDC_ISSUER: issuer, AUDIT_OIDC_CLIENT_ID: clientId } = read;
  if (issuer === undefined) {
    return production ? undefined : { issuer: publicUrl + demoIssuerPath, clientId: demoClientId };
  }
  const problems = [
    ...(clientId === undefined ? ['AUDIT_OIDC_CLIENT_ID is not set'] : []),
    ...(production && !issuer.startsWith('https:')
      ? ['AUDIT_OIDC_ISSUER must be an https address in production']
      : []),
  ];
  if (clientId === undefined || problems.length > 0) throw new ConfigurationError(problems);
  const { AUDIT_OIDC_CLIENT_SECRET: clientSecret } = read;
  return { issuer, clientId, ...withoutUndefined({ clientSecret }) };
}
