import type { Registry } from '@clinical-launch/contracts';
import { createClientSecret, hashClientSecret } from '@clinical-launch/identity-provider';
import { productionRegistryProblems } from '@clinical-launch/service/trust';
import {
  callbackProblems,
  removeCallback,
  resealCallbacks,
  rollCallbackSecret,
  type Surroundings,
  setCallback,
} from './callbacks.ts';
import { keysOf } from './client-keys.ts';
import { addMember, appendEntry, replaceValue } from './json-text.ts';
import { keptSecrets } from './kept-secrets.ts';
import { setPractices, statedPractices, toldOfPractices } from './practices.ts';
import { type Answers, one, type Question, questions as q } from './questions.ts';
import type { RegistryDocument } from './registry-document.ts';

/** What a command comes to: the new text of the file, if it changes, and what the operator is told, once. */
export type Outcome = { readonly text?: string; readonly told: readonly (readonly [string, string])[] };

export type Command = {
  readonly does: string;
  readonly questions: readonly Question[];
  /** @throws Error that says what stands in the way; nothing is written then */
  run(document: RegistryDocument, answers: Answers, around: Surroundings): Outcome;
};

const partnerScopes = ['openid', 'profile', 'email', 'offline_access', 'launch', 'resource.read'];
const launchRight = 'ocs-launch.write';
const keyQuestions = [q.jwks, q.jwksUri];
const launchPolicyQuestions = [q.frameAncestors, q.resultOrigin, q.practices];
const hourMs = 3_600_000;

/** The commands by name. */
export const commands: Readonly<Record<string, Command>> = {
  'add-pms': {
    does: 'registers a practice management system, which may request launch URLs',
    questions: [q.realm, q.clientId, q.name, q.requestsPerSecond, ...launchPolicyQuestions, ...keyQuestions],
    run: (document, answers) => addClient(document, answers, [launchRight]),
  },
  'add-host': {
    does: 'registers a host application, which may launch partner applications',
    questions: [q.realm, q.clientId, q.name, q.requestsPerSecond, ...keyQuestions],
    run: (document, answers) => addClient(document, answers, ['launch.issue']),
  },
  'add-client': {
    does: 'registers another client, with the rights that are named',
    questions: [q.realm, q.clientId, q.name, q.rights, q.requestsPerSecond, q.practices, ...keyQuestions],
    run: (document, answers) => addClient(document, answers, answers.get(q.rights.option) ?? []),
  },
  'add-partner': {
    does: 'registers a partner application of the desktop launch',
    questions: [
      q.desktopRealm,
      q.clientId,
      q.name,
      q.launchUrl,
      q.redirectUris,
      q.backchannelLogoutUri,
      q.profile,
      q.scopes,
      q.requestsPerSecond,
      ...keyQuestions,
    ],
    run: addPartner,
  },
  'roll-secret': {
    does: 'gives a client a new secret; the old one works on for a while',
    questions: [q.realm, q.clientId, q.keepOldHours],
    run: rollSecret,
  },
  'set-practices': {
    does: 'replaces the practices that a client may launch for',
    questions: [q.owner, q.clientId, q.boundPractices],
    run: setPractices,
  },
  'set-callback': {
    does: 'registers where the order documents of a client are posted, or moves it; needs SEALING_KEYS_CALLBACK',
    questions: [q.owner, q.clientId, q.callbackUrl],
    run: setCallback,
  },
  'roll-callback-secret': {
    does: 'gives a callback a new secret, and both sign for a while; needs SEALING_KEYS_CALLBACK',
    questions: [q.owner, q.clientId, q.keepOldHours],
    run: rollCallbackSecret,
  },
  'remove-callback': {
    does: 'takes the callback of a client out; what waits to be delivered there is given up',
    questions: [q.owner, q.clientId],
    run: removeCallback,
  },
  'reseal-callbacks': {
    does: 'seals the secrets of all callbacks with the first of SEALING_KEYS_CALLBACK',
    questions: [],
    run: (document, _answers, around) => resealCallbacks(document, around),
  },
  check: {
    does: 'tells whether the file can be used, and whether production takes it',
    questions: [],
    run: (document, _answers, around) => {
      const problems = callbackProblems(document, around);
      if (problems.length > 0) throw new Error(problems.join('\n'));
      return { told: toldOfCheck(productionRegistryProblems(document.registry)) };
    },
  },
};

function addClient(document: RegistryDocument, answers: Answers, scopes: readonly string[]): Outcome {
  const realm = one(answers, q.realm);
  const clientId = one(answers, q.clientId);
  const keys = keysOf(answers);
  // A client with keys of its own needs no secret, which could be stolen.
  const secret = keys === undefined ? createClientSecret() : undefined;
  const practices = statedPractices(answers);
  const client = {
    clientId,
    name: one(answers, q.name),
    secrets: secret === undefined ? [] : [{ sha256: hashClientSecret(secret) }],
    ...keys,
    scopes,
    ...limitOf(answers),
    ...(answers.has(q.frameAncestors.option) ? { frameAncestors: answers.get(q.frameAncestors.option) } : {}),
    ...(answers.has(q.resultOrigin.option) ? { resultOrigin: one(answers, q.resultOrigin) } : {}),
    ...(practices === undefined ? {} : { practices }),
  };
  const index = findRealm(document.registry, realm);
  assertFree(document.registry, { realm, clientId });
  const text =
    index === undefined
      ? appendEntry(document.text, ['realms'], { realm, clients: [client] })
      : appendEntry(document.text, ['realms', index, 'clients'], client);
  const told: Outcome['told'] = [
    ...toldOfRealm(document.registry, realm),
    ...toldOfClient({ realm, clientId }),
    ...(secret === undefined ? [] : [['client_secret', secret] as const]),
    ...(scopes.includes(launchRight) ? toldOfPractices(practices) : []),
  ];
  return { text, told };
}

function addPartner(document: RegistryDocument, answers: Answers): Outcome {
  const realm = one(answers, q.realm);
  const clientId = one(answers, q.clientId);
  const partner = {
    clientId,
    name: one(answers, q.name),
    ...(answers.has(q.profile.option) ? { profile: one(answers, q.profile) } : {}),
    redirectUris: answers.get(q.redirectUris.option) ?? [],
    launchUrl: one(answers, q.launchUrl),
    ...(answers.has(q.backchannelLogoutUri.option)
      ? { backchannelLogoutUri: one(answers, q.backchannelLogoutUri) }
      : {}),
    scopes: answers.get(q.scopes.option) ?? partnerScopes,
    ...limitOf(answers),
    ...keysOf(answers),
  };
  assertFree(document.registry, { realm, clientId });
  const told: Outcome['told'] = [
    ...toldOfRealm(document.registry, realm),
    ...toldOfClient({ realm, clientId }),
    ['authorization_endpoint', endpoint(realm, 'authorize')],
    ['issuer', `{PUBLIC_URL}/idp/${realm}/v2.0`],
  ];
  return { text: withPartner(document, realm, partner), told };
}

function withPartner({ text, registry }: RegistryDocument, realm: string, partner: object): string {
  const index = findRealm(registry, realm);
  const desktop = { partners: [partner] };
  if (index === undefined) return appendEntry(text, ['realms'], { realm, clients: [], desktop });
  if (registry.realms[index]?.desktop === undefined) {
    return addMember(text, ['realms', index], { name: 'desktop', value: desktop });
  }
  return appendEntry(text, ['realms', index, 'desktop', 'partners'], partner);
}

function rollSecret({ text, registry }: RegistryDocument, answers: Answers, { now }: Surroundings): Outcome {
  const realm = one(answers, q.realm);
  const clientId = one(answers, q.clientId);
  const realmIndex = findRealm(registry, realm) ?? -1;
  const clients = registry.realms[realmIndex]?.clients ?? [];
  const index = clients.findIndex((client) => client.clientId === clientId);
  const client = clients[index];
  if (client === undefined) throw new Error(`The realm ${realm} has no client ${clientId}`);
  const keepOldHours = Number(answers.get(q.keepOldHours.option)?.[0] ?? 24);
  const secret = createClientSecret();
  const secrets = [
    ...keptSecrets(client.secrets, { now, endsAt: now + keepOldHours * hourMs }),
    { sha256: hashClientSecret(secret) },
  ];
  return {
    text: replaceValue(text, ['realms', realmIndex, 'clients', index, 'secrets'], secrets),
    told: [...toldOfClient({ realm, clientId }), ['client_secret', secret]],
  };
}

function findRealm({ realms }: Registry, name: string): number | undefined {
  const index = realms.findIndex(({ realm }) => realm === name);
  return index < 0 ? undefined : index;
}

function assertFree({ realms }: Registry, { realm, clientId }: { realm: string; clientId: string }): void {
  const found = realms.find((one) => one.realm === realm);
  const taken = [...(found?.clients ?? []), ...(found?.desktop?.partners ?? [])];
  if (taken.some((client) => client.clientId === clientId)) {
    throw new Error(`The realm ${realm} has a client ${clientId} already`);
  }
}

function limitOf(answers: Answers) {
  const [limit] = answers.get(q.requestsPerSecond.option) ?? [];
  return limit === undefined ? {} : { requestsPerSecond: Number(limit) };
}

const endpoint = (realm: string, name: string) => `{PUBLIC_URL}/idp/${realm}/oauth2/v2.0/${name}`;

function toldOfClient({ realm, clientId }: { realm: string; clientId: string }): Outcome['told'] {
  return [
    ['client_id', clientId],
    ['token_endpoint', endpoint(realm, 'token')],
  ];
}

/** So that a realm that came of a slip of the pen is seen. */
function toldOfRealm(registry: Registry, realm: string): Outcome['told'] {
  return findRealm(registry, realm) === undefined ? [['new realm', realm]] : [];
}

function toldOfCheck(problems: readonly string[]): Outcome['told'] {
  const usable = [['registry', 'can be used'] as const];
  if (problems.length === 0) return [...usable, ['production', 'takes it']];
  return [...usable, ...problems.map((problem) => ['production refuses it', problem] as const)];
}
