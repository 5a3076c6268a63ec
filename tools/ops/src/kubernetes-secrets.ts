import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import type { SealingPurpose } from '@clinical-launch/crypto/sealing-purposes';
import { replaceFile } from '@clinical-launch/process/operator-files';
import { stringify } from 'yaml';
import { brokerAccess, databaseAccess, type ServiceName, serviceNames } from './access.ts';

type SharedKey = 'patient-pseudonym-key' | 'audit-signing-key' | `sealing-keys-${SealingPurpose}`;

const sharedKeys: Readonly<Record<ServiceName, readonly SharedKey[]>> = {
  'identity-provider': [
    'patient-pseudonym-key',
    'sealing-keys-desktop',
    'sealing-keys-access-token',
    'sealing-keys-signing-key',
  ],
  'launch-api': ['patient-pseudonym-key', 'sealing-keys-launch'],
  'launch-gateway': ['sealing-keys-launch'],
  ordering: ['patient-pseudonym-key', 'sealing-keys-launch', 'sealing-keys-order'],
  'order-renderer': ['sealing-keys-launch', 'sealing-keys-order', 'sealing-keys-callback'],
  'audit-trail': ['patient-pseudonym-key', 'audit-signing-key'],
  'resource-api': ['sealing-keys-access-token'],
};

/** The keys of each Secret that the production overlay's README lists, by kind and name. */
export const documentedSecrets: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...serviceNames.map((name) => [`Secret ${name}`, new Set(documentedKeysOf(name))] as const),
  // Only the components developer-portal and telemetry need these Secrets, so `ops -- secrets` does not
  // create them.
  ['Secret developer-portal', new Set(['sealing-keys-callback', 'statement-signing-key'])],
  ['Secret alertmanager', new Set(['alertmanager-pages', 'alertmanager-tickets'])],
  ['Secret grafana', new Set(['grafana-password'])],
  ['Secret operator', new Set(['amqp-url', 'redis-url', 'event-signing-keys'])],
  ['Secret database-owner', new Set(['database-url'])],
  ['Secret registry', new Set(['registry.json'])],
  ['Secret private-ca', new Set(['ca.crt'])],
  ['Secret launch-tls', new Set(['tls.crt', 'tls.key'])],
]);

function documentedKeysOf(service: ServiceName): readonly string[] {
  const listens = Object.values(eventConsumers).some((consumer) => consumer.service === service);
  return [
    'redis-url',
    'event-signing-keys',
    ...(service in databaseAccess ? ['database-url'] : []),
    ...(service in brokerAccess ? ['amqp-url'] : []),
    ...(listens ? ['event-verification-keys'] : []),
    // Needed only if the staff's issuer gave the platform a client secret.
    ...(service === 'audit-trail' ? ['audit-oidc-client-secret'] : []),
    ...sharedKeys[service],
  ];
}

/** The Secrets whose files `ops -- secrets` writes, by kind and name. */
const generated: ReadonlySet<string> = new Set(
  [...serviceNames, 'operator', 'database-owner'].map((name) => `Secret ${name}`),
);

/**
 * Returns the instruction that creates a Secret or ConfigMap, such as `Secret ordering`, or adds these keys
 * to it. Without keys, a documented Secret gets all its documented keys.
 */
export function howToCreate(source: string, keys: readonly string[], namespace = 'default'): string {
  const [kind = '', name = ''] = source.split(' ');
  if (generated.has(source)) {
    const files = keys.map((key) => `<directory>/services/${name}/${key}`).join(', ');
    const stored = files && `store ${files}, remove <directory>/kustomization.yaml, and run `;
    return `${stored}./clinical-launch secrets --kubernetes <directory> && kubectl apply -k <directory>`;
  }
  const create = `kubectl -n ${namespace} create`;
  if (source === 'Secret launch-tls') return `${create} secret tls ${name} --cert=tls.crt --key=tls.key`;
  const all = keys.length > 0 ? keys : [...(documentedSecrets.get(source) ?? ['<key>'])];
  const files = all.map((key) => ` --from-file=${key}=<file>`).join('');
  return `${create} ${kind === 'Secret' ? 'secret generic' : 'configmap'} ${name}${files}`;
}

const kustomizationNote = `# The Secrets of the production overlay: \`kubectl apply -k <this directory>\`. The values are in the files beside
# this one. Create the Secrets registry, private-ca and launch-tls yourself.
# CHANGE the namespace if your overlay has another one.
`;
const externalNote = `# The same Secrets for the External Secrets Operator. Store each Secret as an object of its keys.
# CHANGE the store, and the names of the objects in the store.
`;

/**
 * Writes `kustomization.yaml` and `external-secrets.yaml` for the secrets in a directory that `makeSecrets`
 * has filled. Both contain names but no values. Keeps existing files.
 * @returns the written files
 */
export function writeKubernetesSecrets(directory: string): readonly string[] {
  const secrets = secretsIn(directory);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'clinical-launch',
    generatorOptions: { disableNameSuffixHash: true },
    secretGenerator: secrets.map(({ name, files }) => ({
      name,
      files: files.map(({ key, path }) => `${key}=${path}`),
    })),
  };
  const external = secrets.map(({ name, files }) => ({
    apiVersion: 'external-secrets.io/v1',
    kind: 'ExternalSecret',
    metadata: { name },
    spec: {
      refreshInterval: '1h',
      secretStoreRef: { kind: 'ClusterSecretStore', name: 'example' },
      target: { name },
      data: files.map(({ key }) => ({
        secretKey: key,
        remoteRef: { key: `clinical-launch/${name}`, property: key },
      })),
    },
  }));
  const texts = {
    'kustomization.yaml': kustomizationNote + stringify(kustomization),
    'external-secrets.yaml': externalNote + external.map((object) => stringify(object)).join('---\n'),
  };
  return Object.entries(texts).flatMap(([name, text]) => {
    const file = join(directory, name);
    if (existsSync(file)) return [];
    replaceFile(file, text);
    return [file];
  });
}

type SecretFiles = { readonly name: string; readonly files: readonly { key: string; path: string }[] };

/** Returns each Secret with the files of its keys, relative to the directory. */
function secretsIn(directory: string): readonly SecretFiles[] {
  const ownFiles = (name: string) =>
    readdirSync(join(directory, 'services', name))
      .toSorted()
      .map((key) => ({ key, path: `services/${name}/${key}` }));
  return [
    ...serviceNames.map((name) => ({
      name,
      files: [...ownFiles(name), ...sharedKeys[name].map((key) => ({ key, path: key }))],
    })),
    { name: 'operator', files: ownFiles('operator') },
    { name: 'database-owner', files: [{ key: 'database-url', path: 'database-url' }] },
  ];
}
