import { randomBytes } from 'node:crypto';
import { callbackAddressFault, isLoopback } from '@clinical-launch/contracts/addresses';
import { callbackSecretPurpose } from '@clinical-launch/contracts/registry';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import type { Answers } from '@clinical-launch/process/command-line';
import type { JSONPath } from 'jsonc-parser';
import { requiredOption } from '../command.ts';
import { removeValue, setValue } from './edit-json.ts';
import { entriesIn, findEntry } from './entries.ts';
import { keptSecrets, reportEnds } from './kept-secrets.ts';
import { options as o } from './options.ts';
import type { Context, Edit } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

const hourMs = 3_600_000;

/** Registers a callback, or changes the address of a registered callback, which keeps its secrets. */
export function setCallback(document: RegistryDocument, answers: Answers, context: Context): Edit {
  const url = requiredOption(answers, o.callbackUrl);
  const {
    path,
    client: { callback },
  } = findEntry(document.registry, answers, 'client');
  assertFit(url, context);
  if (callback !== undefined) {
    return {
      text: setValue(document.text, [...path, 'callback', 'url'], url),
      reported: [['callback_url', url]],
    };
  }
  const { secret, sealed, keyId } = createSecret(context);
  return {
    text: setValue(document.text, [...path, 'callback'], { url, secrets: [{ sealed }] }),
    reported: [
      ['callback_url', url],
      ['callback_secret', secret],
      ['sealed with the key', keyId],
    ],
  };
}

/** Gives a callback a new secret. Both secrets sign callbacks until the old secret expires. */
export function rollCallbackSecret(document: RegistryDocument, answers: Answers, context: Context): Edit {
  const { path, callback } = findCallback(document, answers);
  const keepOldHours = Number(answers.get(o.keepOldHours.name)?.[0] ?? 24);
  const { now } = context;
  const { secret, sealed, keyId } = createSecret(context);
  const kept = keptSecrets(callback.secrets, { now, endsAt: now + keepOldHours * hourMs });
  return {
    text: setValue(document.text, [...path, 'callback', 'secrets'], [...kept, { sealed }]),
    reported: [['callback_secret', secret], ['sealed with the key', keyId], ...reportEnds(kept)],
  };
}

/** Removes a callback. Its pending deliveries are stopped. */
export function removeCallback(document: RegistryDocument, answers: Answers): Edit {
  const { path } = findCallback(document, answers);
  return {
    text: removeValue(document.text, [...path, 'callback']),
    reported: [['removed the callback of', requiredOption(answers, o.clientId)]],
  };
}

/** Seals the secrets of every callback with the first key, so that an older key can be removed. */
export function resealCallbacks(document: RegistryDocument, context: Context): Edit {
  const sealer = context.openSealer();
  let { text } = document;
  let count = 0;
  for (const { path, callback } of callbacksIn(document)) {
    for (const [index, { sealed }] of callback.secrets.entries()) {
      if (isSealedBy(sealed, sealer.currentKeyId)) continue;
      const secret = sealer.open(callbackSecretPurpose, sealed, []);
      const at = [...path, 'callback', 'secrets', index, 'sealed'];
      text = setValue(text, at, sealer.seal(callbackSecretPurpose, secret, []));
      count += 1;
    }
  }
  return {
    text,
    reported: [
      ['resealed', String(count)],
      ['sealed with the key', sealer.currentKeyId],
    ],
  };
}

/** Lists the errors of the callbacks of a registry. If sealing keys are set, tries to open the secrets. */
export function callbackProblems(document: RegistryDocument, context: Context): string[] {
  const sealer = context.hasKeys ? context.openSealer() : undefined;
  return callbacksIn(document).flatMap(({ path, callback: { url, secrets } }) => {
    const at = `${pathText(path)}.callback`;
    const fault = callbackAddressFault(url);
    const ofSecrets = secrets.flatMap(({ sealed }, index) => {
      if (sealer === undefined || canOpen(sealer, sealed)) return [];
      return [`${at}.secrets[${index}] cannot be opened with the keys of SEALING_KEYS_CALLBACK`];
    });
    return [...(fault === undefined ? [] : [`${at}.url ${fault}`]), ...ofSecrets];
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

function assertFit(url: string, { isProduction }: Context): void {
  const fault = addressFault(url, isProduction);
  if (fault !== undefined) throw new Error(`--url ${fault}`);
}

function addressFault(url: string, isProduction: boolean): string | undefined {
  const fault = callbackAddressFault(url);
  if (fault !== undefined || !isProduction || !url.startsWith('http:')) return fault;
  return isLoopback(new URL(url).hostname) ? 'must be https' : undefined;
}

/** Returns a new secret of 32 random bytes in the form of Standard Webhooks, and its sealed form. */
function createSecret(context: Context) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const sealer = context.openSealer();
  return { secret, sealed: sealer.seal(callbackSecretPurpose, secret, []), keyId: sealer.currentKeyId };
}

/** Finds the callback of a client. @throws Error if the client is not registered or has no callback */
function findCallback(document: RegistryDocument, answers: Answers) {
  const {
    path,
    client: { callback },
  } = findEntry(document.registry, answers, 'client');
  if (callback === undefined)
    throw new Error(`The client ${requiredOption(answers, o.clientId)} has no callback`);
  return { path, callback };
}

function callbacksIn({ registry }: RegistryDocument) {
  return entriesIn(registry).flatMap(({ path, client: { callback } }) =>
    callback === undefined ? [] : [{ path, callback }],
  );
}

const pathText = (path: JSONPath) =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step}`)).join('');
