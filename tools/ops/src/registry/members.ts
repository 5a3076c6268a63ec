import { readFileSync } from 'node:fs';
import { registrySchema } from '@clinical-launch/contracts/registry';
import type { TProperties, TSchema } from '@clinical-launch/contracts/type';
import type { Answers, Option } from '@clinical-launch/process/command-line';
import { UsageError } from '@clinical-launch/process/command-line';
import { practiceFault, practicesOf } from './practices.ts';
import { faultBy } from './value-faults.ts';

export type Member = {
  readonly option: Option;
  readonly name: string;
  /** Returns the member's value. @throws Error if the values are invalid */
  readonly read: (values: readonly string[]) => unknown;
};

type Described = {
  readonly title?: string;
  readonly type?: unknown;
  readonly enum?: readonly string[];
  readonly items?: TSchema;
};
type Entry = { readonly properties: TProperties; readonly required?: readonly string[] };
type Shape = Pick<Option, 'value' | 'isRepeatable' | 'faultOf'> & Pick<Member, 'read'>;

/** Members without an option, because they identify or contain entries, or have their own commands. */
const elsewhere = new Set([
  'realm',
  'issuer',
  'clients',
  'desktop',
  'partners',
  'clientId',
  'secrets',
  'callback',
  'suspended',
]);
/** Optional members that commands ask for at a terminal. */
const asked = new Set([
  'requestsPerSecond',
  'frameAncestors',
  'resultOrigin',
  'practices',
  'erns',
  'profile',
  'scopes',
  'audiences',
]);

/** Returns the members of an entry that have an option, in the order of the entry's schema. */
const membersOf = ({ properties, required = [] }: Entry): readonly Member[] =>
  Object.entries(properties)
    .filter(([name]) => !elsewhere.has(name))
    .map(([name, schema]) => {
      const { read, ...form } = formOf(name, schema);
      const isRequired = required.includes(name);
      const option: Option = {
        name: optionNameOf(name, form.isRepeatable && name !== 'practices'),
        summary: (schema as Described).title ?? name,
        ...(isRequired ? {} : { isOptional: true }),
        ...(isRequired || asked.has(name) ? {} : { isUnasked: true }),
        ...form,
      };
      return { option, name, read };
    });

/**
 * Returns the name of an option: `redirect-uri` for the list `redirectUris`, because the option is repeated
 * for each entry of the list.
 */
const optionNameOf = (name: string, isList: boolean | undefined) =>
  (isList ? name.slice(0, -1) : name).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function formOf(name: string, schema: TSchema): Shape {
  const { type, enum: values, items } = schema as Described;
  if (name === 'practices')
    return { value: 'code', isRepeatable: true, faultOf: practiceFault, read: practicesOf };
  if (name === 'erns' && items !== undefined) {
    const faultOf = faultBy(items);
    return {
      value: 'prefix',
      isRepeatable: true,
      faultOf: (stated) => (stated === 'any' ? undefined : faultOf(stated)),
      read: (all) => (all.join() === 'any' ? 'any' : all),
    };
  }
  if (name === 'jwks') return { value: 'path', read: ([path]) => readKeySet(path) };
  if (type === 'boolean')
    return { value: 'yes|no', faultOf: yesOrNoFault, read: ([value]) => value === 'yes' };
  if (type === 'integer')
    return { value: 'number', faultOf: faultBy(schema, wholeNumber), read: ([value]) => wholeNumber(value) };
  if (items !== undefined)
    return { value: 'value', isRepeatable: true, faultOf: faultBy(items), read: (all) => all };
  return { value: values?.join('|') ?? 'value', faultOf: faultBy(schema), read: ([value]) => value };
}

const yesOrNoFault = (value: string) => (/^(yes|no)$/.test(value) ? undefined : 'must be yes or no');

const wholeNumber = (value = '') => (/^\d{1,15}$/.test(value) ? Number(value) : Number.NaN);

const realm = registrySchema.properties.realms.items;
const { desktop, clients } = realm.properties;
const issuer = registrySchema.properties.trustedIssuers.items;

export const realmMembers = membersOf(realm);
export const desktopMembers = membersOf(desktop);
export const clientMembers = membersOf(clients.items);
export const partnerMembers = membersOf(desktop.properties.partners.items);
/** The members of a trusted identity provider. */
export const issuerMembers = membersOf(issuer);
/** The launch settings of a client, including clients of a trusted issuer. */
export const launchPolicy = membersOf(issuer.properties.clients.items);
/** The launch settings of a client of our realms, which may be a host application. */
export const ownLaunchPolicy = clientMembers.filter(
  ({ name }) => name === 'erns' || launchPolicy.some((member) => member.name === name),
);
/** The members for keys and certificates, which a client can use instead of a secret. */
export const proofs = clientMembers.filter(({ name }) => /^(jwks|tls)/.test(name));

/**
 * Returns the options of the members with these names. Without `names`, returns the options of all members.
 */
export const optionsOf = (members: readonly Member[], names?: readonly string[]): readonly Option[] =>
  members.filter(({ name }) => names?.includes(name) ?? true).map(({ option }) => option);

/**
 * Returns the members from the answers, in the form of the registry file.
 * @throws UsageError for two sources of keys (RFC 7591 section 2), Error if a value is invalid
 */
export function membersIn(answers: Answers, members: readonly Member[]): Readonly<Record<string, unknown>> {
  if (answers.has('jwks') && answers.has('jwks-uri'))
    throw new UsageError('Give --jwks or --jwks-uri, not both');
  return Object.fromEntries(
    members.flatMap(({ option, name, read }) => {
      const values = answers.get(option.name);
      return values === undefined ? [] : [[name, read(values)]];
    }),
  );
}

/**
 * Reads a file with a JWK Set or a single JWK. The registry's own check validates the keys.
 * @throws Error if the file cannot be read, or is not JSON
 */
function readKeySet(path = ''): unknown {
  const text = readFileSync(path, 'utf8');
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    // The message of JSON.parse would quote the file, which may be a private key.
    throw new Error(`${path} is not JSON`);
  }
  const isSet = typeof read === 'object' && read !== null && 'keys' in read;
  return isSet ? read : { keys: [read] };
}
