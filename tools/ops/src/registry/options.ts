import * as values from '@clinical-launch/contracts/registry-values';
import type { Option } from '@clinical-launch/process/command-line';
import { faultBy } from './value-faults.ts';

const realmFault = faultBy(values.realmName);
const issuerFault = faultBy(values.issuerUrl);

const all = {
  file: {
    name: 'file',
    value: 'path',
    summary: 'The registry file (default: REGISTRY_FILE)',
    isOptional: true,
    isUnasked: true,
  },
  realm: {
    name: 'realm',
    value: 'realm',
    summary: 'Realm, one or two path segments',
    faultOf: realmFault,
  },
  desktopRealm: {
    name: 'realm',
    value: 'realm',
    summary: 'Realm, two path segments',
    faultOf: (value) =>
      realmFault(value) ??
      (value.includes('/') ? undefined : 'must be two segments of a-z, 0-9 and -, such as north/desktop'),
  },
  /** The owner of a client: one of our realms, or an identity provider that we trust. */
  owner: {
    name: 'realm',
    value: 'realm',
    summary: 'Realm, or the issuer of a trusted identity provider',
    faultOf: (value) => (value.includes('://') ? issuerFault : realmFault)(value),
  },
  issuer: {
    name: 'issuer',
    value: 'url',
    summary: 'Issuer of the identity provider, exactly as in its tokens',
    faultOf: issuerFault,
  },
  clientId: {
    name: 'client-id',
    value: 'id',
    summary: 'Client id: 1 to 200 letters, digits, . _ ~ or -',
    faultOf: faultBy(values.clientId),
  },
  /** The id that an external identity provider has assigned to its client. */
  foreignClientId: { name: 'client-id', value: 'id', summary: 'Client id, exactly as in the tokens' },
  desktop: { name: 'desktop', summary: 'Creates a realm for desktop launches' },
  callbackUrl: {
    name: 'url',
    value: 'url',
    summary: 'Address to which the order document is posted',
    faultOf: faultBy(values.httpAddress),
  },
  keepOldHours: {
    name: 'keep-old-hours',
    value: 'hours',
    summary: 'Hours that the old secret remains valid (default: 24)',
    isOptional: true,
    faultOf: (value) => (/^\d{1,4}$/.test(value) ? undefined : 'must be a number of hours'),
  },
  sheet: {
    name: 'sheet',
    value: 'path',
    summary: 'Markdown file to create with the values for the vendor, without the secret',
    isOptional: true,
    isUnasked: true,
  },
  production: { name: 'production', summary: 'Also exits with 1 if production refuses the registry' },
} as const satisfies Record<string, Option>;

/** The options of the registry commands, except the options that are derived from the registry's schema. */
export const options: { readonly [Name in keyof typeof all]: Option } = all;
