import type { LaunchPolicy } from '@clinical-launch/contracts';
import { type Answers, one, questions as q } from './questions.ts';
import type { RegistryDocument } from './registry-document.ts';

type Found = { readonly path: (string | number)[]; readonly client: LaunchPolicy };

/**
 * Finds a client of one of our realms or of a trusted issuer, and where it is in the registry.
 * @throws Error when the client is not registered
 */
export function findClient({ registry }: RegistryDocument, answers: Answers): Found {
  const owner = one(answers, q.owner);
  const clientId = one(answers, q.clientId);
  const isOurs = !owner.includes('://');
  const issuers = registry.trustedIssuers ?? [];
  const index = isOurs
    ? registry.realms.findIndex(({ realm }) => realm === owner)
    : issuers.findIndex(({ issuer }) => issuer === owner);
  const clients = (isOurs ? registry.realms : issuers)[index]?.clients ?? [];
  const place = clients.findIndex((each) => each.clientId === clientId);
  const client = clients[place];
  if (client === undefined)
    throw new Error(`The ${isOurs ? 'realm' : 'issuer'} ${owner} has no client ${clientId}`);
  return { path: [isOurs ? 'realms' : 'trustedIssuers', index, 'clients', place], client };
}
