import {
  createClientSecret,
  hashClientSecret,
} from '@clinical-launch/identity-provider/domain/client-secrets';
import type { Answers } from '@clinical-launch/process/command-line';
import { requiredOption } from '../command.ts';
import { appendEntry, setValue } from './edit-json.ts';
import { assertFree, findEntry, findIssuer, findRealm } from './entries.ts';
import { keptSecrets, reportEnds } from './kept-secrets.ts';
import { launchPolicy, type Member, membersIn, ownLaunchPolicy, partnerMembers, proofs } from './members.ts';
import { options as o } from './options.ts';
import { practicesOf, reportPractices } from './practices.ts';
import { type Context, type Edit, placeholder, type Reported } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

const partnerScopes = ['openid', 'profile', 'email', 'offline_access', 'launch', 'resource.read'];
const launchRights = ['ocs-launch.write', 'launch.issue'];
const hourMs = 3_600_000;

/**
 * Registers a client of one of our realms, with a secret unless it authenticates with keys or certificates.
 */
export function addClient(
  { text, registry }: RegistryDocument,
  answers: Answers,
  scopes: readonly string[],
): Edit {
  const realm = requiredOption(answers, o.realm);
  const clientId = requiredOption(answers, o.clientId);
  const at = findRealm(registry, realm);
  assertFree(registry, { owner: realm, clientId });
  const proved = membersIn(answers, proofs);
  const isProven = proofs.some((proof) => proof.name in proved && !isBinding(proof));
  const secret = isProven ? undefined : createClientSecret();
  const secrets = secret === undefined ? [] : [{ sha256: hashClientSecret(secret) }];
  const policy = membersIn(answers, ownLaunchPolicy);
  const client = {
    clientId,
    name: requiredOption(answers, { name: 'name' }),
    secrets,
    ...proved,
    scopes,
    ...policy,
  };
  const stated = answers.get('practices');
  return {
    text: appendEntry(text, ['realms', at, 'clients'], client),
    reported: [
      ...reportClient({ realm, clientId }),
      ...(secret === undefined ? [] : [['client_secret', secret] as const]),
      ...(launchRights.some((right) => scopes.includes(right))
        ? reportPractices(stated === undefined ? undefined : practicesOf(stated))
        : []),
    ],
  };
}

const isBinding = ({ name }: Member) => name === 'tlsClientCertificateBoundAccessTokens';

/** Registers a partner application. The first partner turns a realm of two segments into a desktop realm. */
export function addPartner({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const realm = requiredOption(answers, o.realm);
  const clientId = requiredOption(answers, o.clientId);
  const at = findRealm(registry, realm);
  assertFree(registry, { owner: realm, clientId });
  const { scopes = partnerScopes, ...registered } = membersIn(answers, partnerMembers);
  const partner = { clientId, ...registered, scopes };
  const path = ['realms', at, 'desktop'];
  return {
    text:
      registry.realms[at]?.desktop === undefined
        ? setValue(text, path, { partners: [partner] })
        : appendEntry(text, [...path, 'partners'], partner),
    reported: [
      ...reportClient({ realm, clientId }),
      ['authorization_endpoint', endpoint(realm, 'authorize')],
      ['issuer', `${placeholder}/idp/${realm}/v2.0`],
    ],
  };
}

/** Registers a client of a trusted identity provider, which issues its tokens. */
export function addIssuerClient({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const issuer = requiredOption(answers, o.issuer);
  const clientId = requiredOption(answers, o.foreignClientId);
  const at = findIssuer(registry, issuer);
  assertFree(registry, { owner: issuer, clientId });
  const client = { clientId, ...membersIn(answers, launchPolicy) };
  const stated = answers.get('practices');
  return {
    text: appendEntry(text, ['trustedIssuers', at, 'clients'], client),
    reported: [
      ['client_id', clientId],
      ...reportPractices(stated === undefined ? undefined : practicesOf(stated)),
    ],
  };
}

/** Gives a client a new secret. The old secret remains valid for some time. */
export function rollSecret({ text, registry }: RegistryDocument, answers: Answers, { now }: Context): Edit {
  const realm = requiredOption(answers, o.realm);
  const { path, client } = findEntry(registry, answers, 'client');
  const keepOldHours = Number(answers.get(o.keepOldHours.name)?.[0] ?? 24);
  const secret = createClientSecret();
  const kept = keptSecrets(client.secrets ?? [], { now, endsAt: now + keepOldHours * hourMs });
  return {
    text: setValue(text, [...path, 'secrets'], [...kept, { sha256: hashClientSecret(secret) }]),
    reported: [
      ...reportClient({ realm, clientId: client.clientId }),
      ['client_secret', secret],
      ...reportEnds(kept),
    ],
  };
}

const endpoint = (realm: string, name: string) => `${placeholder}/idp/${realm}/oauth2/v2.0/${name}`;

function reportClient({ realm, clientId }: { realm: string; clientId: string }): Reported {
  return [
    ['client_id', clientId],
    ['token_endpoint', endpoint(realm, 'token')],
  ];
}
