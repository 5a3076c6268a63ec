import type { Answers } from '@clinical-launch/process/command-line';
import { requiredOption } from '../command.ts';
import { appendEntry, setValue } from './edit-json.ts';
import { desktopMembers, issuerMembers, membersIn, realmMembers } from './members.ts';
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
