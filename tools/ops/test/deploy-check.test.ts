import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { secretsOfProduction } from '../../../tests/system/k8s/production-secrets.ts';
import { documentedSecrets } from '../src/kubernetes-secrets.ts';
import { runOpsHere } from './run-ops.ts';

const directory = mkdtempSync(join(tmpdir(), 'clinical-launch-check-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('./clinical-launch deploy check', () => {
  const check = async (text: string) => {
    const file = join(directory, 'rendered.yaml');
    writeFileSync(file, text);
    return await runOpsHere(['deploy', 'check', file], {});
  };

  it('lists each placeholder with its object and path, and exits with 1', async () => {
    const { code, errors } = await check(`kind: Ingress
metadata: { name: edge }
spec: { rules: [{ host: launch.example.org }] }
---
kind: ConfigMap
metadata: { name: edge }
data:
  SERVER_ALLOWED_NETWORKS: 10.0.0.0/8 198.51.100.0/24
  file: |
    # siem.example.org
    endpoint: 10.1.2.3
`);
    expect([code, errors.trim().split('\n')]).toEqual([
      1,
      [
        'Ingress edge: spec.rules[0].host is launch.example.org',
        'ConfigMap edge: data.SERVER_ALLOWED_NETWORKS is 10.0.0.0/8 198.51.100.0/24',
      ],
    ]);
  });

  it('lists the store of an ExternalSecret', async () => {
    const { errors } = await check(
      'kind: ExternalSecret\nmetadata: { name: ordering }\nspec: { secretStoreRef: { name: example }, target: { name: ordering } }\n',
    );
    expect(errors.trim()).toBe('ExternalSecret ordering: spec.secretStoreRef.name is example');
  });

  it('exits with 0 if no placeholder is left', async () => {
    const { code, output } = await check(`kind: Deployment
metadata: { name: clinical-launch, namespace: clinical-launch }
spec: { template: { spec: { containers: [{ name: main, image: 'registry.nhs.uk/clinical-launch@sha256:${'a'.repeat(64)}' }] } } }
`);
    expect([code, output.trim()]).toEqual([0, '1 objects, 0 placeholders']);
  });

  it.each([
    ['namespaceSelector: {}', 'edge', ''],
    ['ipBlock: { cidr: 0.0.0.0/0 }', 'waf', ''],
    ['podSelector: {}', 'edge', 'No entry point: the edge admits nobody.'],
    ['namespaceSelector: {}', 'ordering', 'No entry point: the edge admits nobody.'],
  ])('with a policy from %s to %s, reports: `%s`', async (peer, pod, problem) => {
    const { code, errors } = await check(`kind: Deployment
metadata: { name: edge }
---
kind: NetworkPolicy
metadata: { name: any }
spec: { podSelector: { matchLabels: { app.kubernetes.io/name: ${pod} } }, ingress: [{ from: [{ ${peer} }] }] }
`);
    expect([code, errors.split(' Uncomment')[0]]).toEqual([problem === '' ? 0 : 1, problem]);
  });

  it('exits with 1 for a file that is not YAML', async () => {
    expect(await check('{ not: [yaml')).toMatchObject({ code: 1, output: '' });
  });

  /** Returns a Deployment whose container reads the file `key` of the Secret in the volume. */
  const pod = (secret: string, key: string) => `kind: Deployment
metadata: { name: ordering, namespace: launch }
spec:
  template:
    spec:
      containers:
        - env: [{ name: ANY_FILE, value: /run/secrets/${key} }]
          volumeMounts: [{ name: secrets, mountPath: /run/secrets }]
      volumes: [{ name: secrets, secret: { secretName: ${secret} } }]
`;

  it('lists the documented Secrets that the manifests need, and how to create them', async () => {
    const tls =
      'kind: Ingress\nmetadata: { name: edge, namespace: launch }\nspec: { tls: [{ secretName: launch-tls }] }\n';
    const { code, output, errors } = await check(`${pod('ordering', 'redis-url')}---\n${tls}`);
    expect([code, errors, output.trim().split('\n')]).toEqual([
      0,
      '',
      [
        '2 objects, 0 placeholders',
        'Secret ordering: ./clinical-launch secrets --kubernetes <directory> && kubectl apply -k <directory>',
        'Secret launch-tls: kubectl -n launch create secret tls launch-tls --cert=tls.crt --key=tls.key',
      ],
    ]);
  });

  it('knows exactly the Secrets and keys that the README of the production overlay lists', () => {
    expect(documentedSecrets).toEqual(
      new Map(secretsOfProduction().map(([object, keys]) => [object, new Set(keys)])),
    );
  });

  it.each([
    [
      'a mounted file from a Secret',
      pod('ordering', 'hl7-key'),
      'Deployment ordering: Secret ordering with the key hl7-key is missing: store <directory>/services/ordering/hl7-key, remove <directory>/kustomization.yaml, and run ./clinical-launch secrets --kubernetes <directory> && kubectl apply -k <directory>',
    ],
    [
      'a file that a setting in a ConfigMap names',
      `kind: ConfigMap
metadata: { name: platform }
data: { HL7_KEY_FILE: /run/secrets/hl7-key, OTHER: /run/secrets/other }
---
${pod('gateway', 'hl7-key').replace(/env: .*/, 'envFrom: [{ configMapRef: { name: platform } }]')}`,
      'Deployment ordering: Secret gateway with the key hl7-key is missing: kubectl -n launch create secret generic gateway --from-file=hl7-key=<file>',
    ],
    [
      'a variable from a Secret',
      'kind: Pod\nmetadata: { name: probe }\nspec: { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: probe, key: token } } }] }] }\n',
      'Pod probe: Secret probe with the key token is missing: kubectl -n default create secret generic probe --from-file=token=<file>',
    ],
    [
      'a projected ConfigMap',
      `kind: CronJob
metadata: { name: probe, namespace: launch }
spec: { jobTemplate: { spec: { template: { spec: { volumes: [{ projected: { sources: [{ configMap: { name: texts } }] } }] } } } } }
`,
      'CronJob probe: ConfigMap texts is missing: kubectl -n launch create configmap texts --from-file=<key>=<file>',
    ],
    [
      'variables from a Secret, and the Secret for the registry of the images',
      `kind: Job
metadata: { name: probe, namespace: launch }
spec: { template: { spec: { imagePullSecrets: [{ name: pull }], initContainers: [{ envFrom: [{ secretRef: { name: all } }] }] } } }
`,
      'Job probe: Secret pull is missing: kubectl -n launch create secret generic pull --from-file=<key>=<file>\nJob probe: Secret all is missing: kubectl -n launch create secret generic all --from-file=<key>=<file>',
    ],
  ])('lists %s that is missing, and exits with 1', async (_what, text, problem) => {
    const { code, errors } = await check(text);
    expect([code, errors.trim()]).toEqual([1, problem]);
  });

  it.each([
    ['a Secret', 'kind: Secret\nmetadata: { name: gateway }\nstringData: { hl7-key: any }\n'],
    [
      'an ExternalSecret',
      'kind: ExternalSecret\nmetadata: { name: any }\nspec: { target: { name: gateway }, data: [{ secretKey: hl7-key }] }\n',
    ],
    [
      'an ExternalSecret of all keys',
      'kind: ExternalSecret\nmetadata: { name: gateway }\nspec: { dataFrom: [{ extract: { key: gateway } }] }\n',
    ],
    [
      'a SecretProviderClass',
      'kind: SecretProviderClass\nmetadata: { name: any }\nspec: { secretObjects: [{ secretName: gateway, data: [{ key: hl7-key }] }] }\n',
    ],
  ])('accepts a reference to a Secret key that %s in the same file contains', async (_what, provider) => {
    const { code, errors } = await check(`${provider}---\n${pod('gateway', 'hl7-key')}`);
    expect([code, errors]).toEqual([0, '']);
    const other = await check(`${provider.replaceAll('hl7-key', 'other')}---\n${pod('gateway', 'hl7-key')}`);
    expect(other.code).toBe(provider.includes('dataFrom') ? 0 : 1);
  });

  it('omits optional references, and the ConfigMap that every namespace has', async () => {
    const { code } = await check(`kind: Pod
metadata: { name: probe }
spec:
  volumes:
    - { name: a, secret: { secretName: absent, optional: true } }
    - { name: b, configMap: { name: kube-root-ca.crt } }
`);
    expect(code).toBe(0);
  });
});
