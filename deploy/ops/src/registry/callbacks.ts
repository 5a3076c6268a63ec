import { randomBytes } from 'node:crypto';
import {
  callbackAddressFault,
  callbackSecretPurpose,
  isLoopback,
  type Sealer,
} from '@clinical-launch/contracts';
import { findClient } from './find-client.ts';
import { addMember, removeMember, replaceValue } from './json-text.ts';
import { keptSecrets } from './kept-secrets.ts';
import { type Answers, one, questions as q } from './questions.ts';
import type { RegistryDocument } from './registry-document.ts';

/** What a command on a callback is told beside its answers. */
export type Surroundings = {
  readonly now: number;
  readonly isProduction: boolean;
  /** Whether `SEALING_KEYS_CALLBACK` or `SEALING_KEYS` is set; without them the demo's key seals. */
  readonly hasKeys: boolean;
  /** @throws ConfigurationError when the keys cannot be used */
  openSealer(): Sealer;
};

type Outcome = { readonly text: string; readonly told: readonly (readonly [string, string])[] };

const hourMs = 3_600_000;

type Path = (string | number)[];

/** Registers a callback, or moves the one that there is to another address; its secrets stay then. */
export function setCallback(document: RegistryDocument, answers: Answers, around: Surroundings): Outcome {
  const url = one(answers, q.callbackUrl);
  const {
    path,
    client: { callback },
  } = findClient(document, answers);
  assertFit(url, around);
  if (callback !== undefined) {
    return {
      text: replaceValue(document.text, [...path, 'callback', 'url'], url),
      told: [['callback_url', url]],
    };
  }
  const { secret, sealed, keyId } = createSecret(around);
  return {
    text: addMember(document.text, path, { name: 'callback', value: { url, secrets: [{ sealed }] } }),
    told: [
      ['callback_url', url],
      ['callback_secret', secret],
      ['sealed with the key', keyId],
    ],
  };
}

/** Gives a callback a new secret; until the old one ends, both sign. */
export function rollCallbackSecret(
  document: RegistryDocument,
  answers: Answers,
  around: Surroundings,
): Outcome {
  const { path, callback } = findCallback(document, answers);
  const keepOldHours = Number(answers.get(q.keepOldHours.option)?.[0] ?? 24);
  const { now } = around;
  const { secret, sealed, keyId } = createSecret(around);
  const secrets = [
    ...keptSecrets(callback.secrets, { now, endsAt: now + keepOldHours * hourMs }),
    { sealed },
  ];
  return {
    text: replaceValue(document.text, [...path, 'callback', 'secrets'], secrets),
    told: [
      ['callback_secret', secret],
      ['sealed with the key', keyId],
    ],
  };
}

/** Takes a callback out: what waits for it is given up. */
export function removeCallback(document: RegistryDocument, answers: Answers): Outcome {
  const { path } = findCallback(document, answers);
  return {
    text: removeMember(document.text, [...path, 'callback']),
    told: [['removed the callback of', one(answers, q.clientId)]],
  };
}

/** Seals the secret of every callback with the first key, so that an old one can be taken out. */
export function resealCallbacks(document: RegistryDocument, around: Surroundings): Outcome {
  const sealer = around.openSealer();
  let { text } = document;
  let count = 0;
  for (const { path, callback } of callbacksIn(document)) {
    for (const [index, { sealed }] of callback.secrets.entries()) {
      if (isSealedBy(sealed, sealer.currentKeyId)) continue;
      const secret = sealer.open(callbackSecretPurpose, sealed, []);
      const place = [...path, 'callback', 'secrets', index, 'sealed'];
      text = replaceValue(text, place, sealer.seal(callbackSecretPurpose, secret, []));
      count += 1;
    }
  }
  return {
    text,
    told: [
      ['sealed anew', String(count)],
      ['sealed with the key', sealer.currentKeyId],
    ],
  };
}

/** Lists what is wrong with the callbacks of a registry. Tries to open their secrets where sealing keys are set. */
export function callbackProblems(document: RegistryDocument, around: Surroundings): string[] {
  const sealer = around.hasKeys ? around.openSealer() : undefined;
  return callbacksIn(document).flatMap(({ path, callback: { url, secrets } }) => {
    const place = `${pathText(path)}.callback`;
    const fault = callbackAddressFault(url);
    const ofSecrets = secrets.flatMap(({ sealed }, index) => {
      if (sealer === undefined || canOpen(sealer, sealed)) return [];
      return [`${place}.secrets[${index}] cannot be opened with the keys of SEALING_KEYS_CALLBACK`];
    });
    return [...(fault === undefined ? [] : [`${place}.url ${fault}`]), ...ofSecrets];
  });
}

function canOpen(sealer: Sealer, sealed: string): boolean {
  try {
    return typeof sealer.open(callbackSecretPurpose, sealed, []) === 'string';
  } catch {
    return false;
  }
}

const isSealedBy = (sealed: string, keyId: string) => sealed.startsWith(`${keyId}.`);

function assertFit(url: string, { isProduction }: Surroundings): void {
  const fault = addressFault(url, isProduction);
  if (fault !== undefined) throw new Error(`--url ${fault}`);
}

function addressFault(url: string, isProduction: boolean): string | undefined {
  const fault = callbackAddressFault(url);
  if (fault !== undefined || !isProduction || !url.startsWith('http:')) return fault;
  return isLoopback(new URL(url).hostname) ? 'must be https' : undefined;
}

/** 32 random bytes as Standard Webhooks write a secret, and its seal. */
function createSecret(around: Surroundings) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const sealer = around.openSealer();
  return { secret, sealed: sealer.seal(callbackSecretPurpose, secret, []), keyId: sealer.currentKeyId };
}

/** @throws Error when the client is not registered, or has no callback */
function findCallback(document: RegistryDocument, answers: Answers) {
  const {
    path,
    client: { callback },
  } = findClient(document, answers);
  if (callback === undefined) throw new Error(`The client ${one(answers, q.clientId)} has no callback`);
  return { path, callback };
}

function callbacksIn({ registry: { realms, trustedIssuers = [] } }: RegistryDocument) {
  const owners = [
    ...realms.map(({ clients }, index) => ({ clients, path: ['realms', index] })),
    ...trustedIssuers.map(({ clients }, index) => ({ clients, path: ['trustedIssuers', index] })),
  ];
  return owners.flatMap(({ clients, path }) =>
    clients.flatMap(({ callback }, index) =>
      callback === undefined ? [] : [{ path: [...path, 'clients', index] as Path, callback }],
    ),
  );
}

const pathText = (path: Path) =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step}`)).join('');
