import { randomUUID } from 'node:crypto';
import { BoundedMap } from '@clinical-launch/conformance/recorder';
import { exportJWK, generateKeyPair } from 'jose';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import Provider, { type Configuration } from 'oidc-provider';
import { findPerson } from '../records.ts';
import type { Simulation } from '../simulator.ts';

const staffPath = '/demo/staff';
const scope = 'openid profile';
const day = 24 * 3600;

/**
 * Creates the OpenID provider of the demo's staff (panva/node-oidc-provider): Authorization Code with PKCE,
 * ID tokens with the claim `roles`, RP-initiated logout. Anyone can sign in as any of the invented people.
 * Keys and sessions end with the process.
 */
export async function createStaffProvider({ config, page }: Simulation): Promise<Provider> {
  const { publicUrl } = config;
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const showing = { application: { name: 'Staff sign-in (demo)', home: '/' } };
  const configuration: Configuration = {
    adapter: createStore,
    clients: [
      {
        client_id: 'audit-pages',
        token_endpoint_auth_method: 'none',
        redirect_uris: [`${publicUrl}/audit/callback`],
        post_logout_redirect_uris: [`${publicUrl}/audit/signed-out`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: randomUUID() }] },
    cookies: {
      keys: [randomUUID()],
      names: { session: 'staff-session', interaction: 'staff-interaction', resume: 'staff-resume' },
      long: { path: staffPath },
    },
    scopes: scope.split(' '),
    claims: { openid: ['sub', 'roles'], profile: ['name', 'preferred_username'] },
    // Puts the claims in the ID token, as the providers of most organisations do.
    conformIdTokenClaims: false,
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      Grant: day,
      IdToken: 3600,
      Interaction: 3600,
      Session: day,
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = page('staff/views/sign-out.njk', { ...showing, form });
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.body = page('staff/views/message.njk', { ...showing, title: 'You have signed out' });
        },
      },
    },
    interactions: { url: (_ctx, { uid }) => `${staffPath}/sign-in/${uid}` },
    findAccount: (_ctx, sub) => {
      const person = findPerson(sub);
      if (person === undefined) return undefined;
      const { name, username, rights } = person;
      return {
        accountId: sub,
        claims: () => ({ sub, name, preferred_username: username, roles: [...rights] }),
      };
    },
    // Grants the scope without a consent page, because the audit pages belong to the platform.
    loadExistingGrant: async (ctx) => {
      const { client, session, provider } = ctx.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope(scope);
      await grant.save();
      return grant;
    },
    renderError: (ctx, { error_description: description }) => {
      const title = 'You cannot sign in this way';
      ctx.body = page('staff/views/message.njk', { ...showing, title, description });
    },
  };
  const provider = new Provider(publicUrl + staffPath, configuration);
  // Builds the addresses in answers from the X-Forwarded headers, which `staffSimulator` sets to
  // `PUBLIC_URL`.
  provider.proxy = true;
  return provider;
}

/**
 * Creates the store for one kind of objects of the provider. The store is in memory, and removes its oldest
 * objects when it is full.
 */
function createStore(): Adapter {
  const stored = new BoundedMap<AdapterPayload>();
  return {
    upsert: async (id, payload) => void stored.set(id, payload),
    find: async (id) => stored.get(id),
    findByUid: async (uid) => [...stored.values()].find((payload) => payload.uid === uid),
    findByUserCode: async () => undefined,
    consume: async (id) => {
      const payload = stored.get(id);
      if (payload !== undefined) payload['consumed'] = Math.floor(Date.now() / 1000);
    },
    destroy: async (id) => void stored.delete(id),
    revokeByGrantId: async (grantId) => {
      for (const [id, payload] of stored) if (payload.grantId === grantId) stored.delete(id);
    },
  };
}
