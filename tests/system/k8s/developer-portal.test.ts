import { describe, expect, it } from '@jest/globals';
import { matches, ofKind, type PolicySpec, workloadsOf } from './objects.ts';
import { secretsOfProduction } from './production-secrets.ts';
import { render, renderWith } from './render.ts';

const objects = renderWith('developer-portal');
const policies = ofKind<PolicySpec>(objects, 'NetworkPolicy');
const labels = {
  'app.kubernetes.io/name': 'developer-portal',
  'app.kubernetes.io/component': 'service',
};

describe('the component developer-portal', () => {
  it('runs one replica, and stops it before it starts another', () => {
    const [portal] = ofKind<object>(objects, 'Deployment').filter(({ name }) => name === 'developer-portal');
    expect(portal?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    const scaled = ofKind<object>(objects, 'HorizontalPodAutoscaler').map(({ name }) => name);
    expect(scaled).not.toContain('developer-portal');
  });

  it('adds the developer portal to production, which otherwise does not contain it', () => {
    const settings = workloadsOf(objects)
      .filter(({ name }) => name === 'developer-portal')
      .flatMap(({ containers }) => containers.flatMap(({ env = [] }) => env));
    expect(settings).toContainEqual({ name: 'DEVELOPER_PORTAL', value: 'on' });
    expect(JSON.stringify(render('production'))).not.toContain('developer-portal');
  });

  it('reads only the keys that the overlay’s README lists', () => {
    const [portal] = workloadsOf(objects).filter(({ name }) => name === 'developer-portal');
    const values = portal?.containers.flatMap(({ env = [] }) => env.map(({ value = '' }) => value)) ?? [];
    const files = values.flatMap((value) => /^\/run\/secrets\/(.*)/.exec(value)?.[1] ?? []);
    expect(files).toEqual(new Map(secretsOfProduction()).get('Secret developer-portal'));
  });

  it('lets the portal reach only the edge, the identity provider and the internet', () => {
    const selecting = policies.filter(
      ({ spec }) => spec.policyTypes.includes('Egress') && matches(spec.podSelector, labels),
    );
    expect(selecting.map(({ name }) => name).toSorted()).toEqual([
      'deny-all',
      'developer-portal-to-edge',
      'dns',
      'identity-provider-clients',
      'outbound',
    ]);
    const admitting = policies.filter(({ spec }) =>
      spec.ingress?.some(({ from = [] }) =>
        from.some(({ podSelector }) => podSelector !== undefined && matches(podSelector, labels)),
      ),
    );
    expect(admitting.map(({ name }) => name).toSorted()).toEqual([
      'edge-from-developer-portal',
      'identity-provider',
    ]);
  });
});
