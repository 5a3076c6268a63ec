import { type Answers, requiredOption } from '../command.ts';
import { change } from './change.ts';
import { appendEntry, removeValue, setValue } from './edit-json.ts';
import { findIssuer, findRealm } from './entries.ts';
import { desktopMembers, issuerMembers, type Member, membersIn, realmMembers } from './members.ts';
import { options as o } from './options.ts';
import { type Edit, placeholder } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

/** Creates a realm. Other commands refuse an unknown realm, which may be mistyped. */
export function addRealm({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const realm = requiredOption(answers, o.realm);
  if (registry.realms.some((each) => each.realm === realm))
    throw new Error(`The realm ${realm} already exists`);
  const desktop = membersIn(answers, desktopMembers);
  const isDesktop = answers.has(o.desktop.name) || Object.keys(desktop).length > 0;
  const entry = {
    realm,
    ...membersIn(answers, realmMembers),
    clients: [],
    ...(isDesktop ? { desktop: { ...desktop, partners: [] } } : {}),
  };
  return {
    text: appendEntry(text, ['realms'], entry),
    reported: [
      ['realm', realm],
      ['issuer', `${placeholder}/idp/${realm}/v2.0`],
    ],
  };
}

/** Changes the settings of a realm. */
export function setRealm({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const realm = requiredOption(answers, o.realm);
  const at = findRealm(registry, realm);
  const isNamed = ({ option: { name } }: Member) =>
    answers.has(name) || answers.get(o.clear.name)?.includes(name) === true;
  if (registry.realms[at]?.desktop === undefined && desktopMembers.some(isNamed)) {
    throw new Error(`The realm ${realm} is not a realm of the desktop launch`);
  }
  return change(text, ['realms', at], { answers, members: [...realmMembers, ...desktopMembers] });
}

/** Removes a realm that has no clients and no partners. */
export function removeRealm({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const realm = requiredOption(answers, o.realm);
  const at = findRealm(registry, realm);
  const { clients = [], desktop } = registry.realms[at] ?? {};
  const count = clients.length + (desktop?.partners.length ?? 0);
  if (count > 0) throw new Error(`The realm ${realm} has ${count} clients. Remove them first`);
  return { text: removeValue(text, ['realms', at]), reported: [['removed the realm', realm]] };
}

/** Adds an external identity provider to trust. */
export function addIssuer({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const issuer = requiredOption(answers, o.issuer);
  const { trustedIssuers } = registry;
  if (trustedIssuers?.some((each) => each.issuer === issuer)) {
    throw new Error(`The trusted issuer ${issuer} already exists`);
  }
  const entry = { issuer, ...membersIn(answers, issuerMembers), clients: [] };
  return {
    text:
      trustedIssuers === undefined
        ? setValue(text, ['trustedIssuers'], [entry])
        : appendEntry(text, ['trustedIssuers'], entry),
    reported: [['issuer', issuer]],
  };
}

/** Changes the settings for the tokens of a trusted identity provider. */
export function setIssuer({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const at = findIssuer(registry, requiredOption(answers, o.issuer));
  return change(text, ['trustedIssuers', at], { answers, members: issuerMembers });
}

/** Removes a trusted identity provider without clients. */
export function removeIssuer({ text, registry }: RegistryDocument, answers: Answers): Edit {
  const issuer = requiredOption(answers, o.issuer);
  const at = findIssuer(registry, issuer);
  const count = registry.trustedIssuers?.[at]?.clients.length ?? 0;
  if (count > 0) throw new Error(`The issuer ${issuer} has ${count} clients. Remove them first`);
  return { text: removeValue(text, ['trustedIssuers', at]), reported: [['removed the issuer', issuer]] };
}
