import { type Registry, registrySchema } from '@clinical-launch/contracts/registry';
import { navigationFaultsIn } from '@clinical-launch/contracts/registry-reading';
import type { Answers, Option } from '@clinical-launch/process/command-line';
import { locateFaults } from '@clinical-launch/process/operator-files';
import { productionRegistryProblems } from '@clinical-launch/trust/production-registry';
import type { Command, Group } from '../command.ts';
import {
  callbackProblems,
  removeCallback,
  resealCallbacks,
  rollCallbackSecret,
  setCallback,
} from './callbacks.ts';
import { addClient, addIssuerClient, rollSecret } from './clients.ts';
import { entriesIn } from './entries.ts';
import { list, remove, resume, suspend } from './life.ts';
import {
  clientMembers,
  desktopMembers,
  issuerMembers,
  launchPolicy,
  optionsOf,
  partnerMembers,
  proofs,
  realmMembers,
} from './members.ts';
import { addHost, addPartnerWithSheet, addPms } from './onboarding-sheet.ts';
import { options as o } from './options.ts';
import { setPractices } from './practices.ts';
import { addIssuer, addRealm } from './realms.ts';
import {
  type Context,
  directoriesIn,
  directoryProblems,
  type Edit,
  listedIn,
  pathOf,
  registryCommand,
  registryFile,
} from './registry-command.ts';
import { createFile, type RegistryDocument } from './registry-document.ts';

const emptyRegistry = '{\n  "realms": []\n}\n';

const init: Command = {
  summary: 'Creates an empty registry file. It never replaces an existing one.',
  example: '--file registry.json',
  options: [o.file],
  settings: [registryFile],
  async run(input) {
    const path = pathOf(input);
    await createFile(path, emptyRegistry);
    return { lines: [`registry: ${path}`, 'next: registry add-realm'], result: { registry: path } };
  },
};

const entry = [o.owner, o.foreignClientId];
const named = [o.realm, o.clientId, ...optionsOf(clientMembers, ['name'])];
const launchOptions = optionsOf(launchPolicy);
const hostOptions = optionsOf(clientMembers, ['requestsPerSecond', 'practices', 'sandbox', 'erns']);
const practices = optionsOf(launchPolicy, ['practices']).map(
  ({ isOptional: _isOptional, ...required }): Option => required,
);
const proofOptions = optionsOf(proofs);
const lifetimes = optionsOf([...realmMembers, ...desktopMembers]);
// The registry requires the scopes of a partner, but the command has a default for them.
const partnerOptions = optionsOf(partnerMembers).map(
  (option): Option => (option.name === 'scope' ? { ...option, isOptional: true } : option),
);

/** `./clinical-launch registry` */
export const registry: Group = {
  commands: {
    init,
    list: registryCommand({
      summary: 'Lists the realms with their clients and partners, without secrets.',
      example: '--json',
      options: [],
      edit: list,
    }),
    check: registryCommand({
      summary: 'Checks whether the services can use the file, and whether production accepts it.',
      example: '--production',
      options: [o.production],
      seals: true,
      informs: 'of addresses',
      edit: check,
    }),
    schema: {
      summary: 'Prints the JSON Schema of the file for editors. Reference it in the member $schema.',
      async run() {
        const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...registrySchema };
        return { lines: [JSON.stringify(schema, null, 2)], result: schema };
      },
    },
    'add-realm': registryCommand({
      summary: 'Creates a realm.',
      example: '--realm practices',
      options: [o.realm, o.desktop, ...lifetimes],
      informs: 'of addresses',
      edit: addRealm,
    }),
    'add-pms': registryCommand({
      summary: 'Registers a practice management system, which may request launch URLs.',
      example: '--realm practices --client-id my-pms --sheet my-pms.md',
      options: [...named, ...launchOptions, ...proofOptions, o.sheet],
      informs: 'a vendor',
      edit: addPms,
    }),
    'add-host': registryCommand({
      summary: 'Registers a host application, which may launch partner applications.',
      example: '--realm north/desktop --client-id my-host',
      options: [...named, ...hostOptions, ...proofOptions, o.sheet],
      informs: 'a vendor',
      edit: addHost,
    }),
    'add-client': registryCommand({
      summary: 'Registers another client, with the given rights.',
      example: '--realm practices --client-id siem --scope audit.read',
      options: [o.realm, o.clientId, ...optionsOf(clientMembers)],
      informs: 'of addresses',
      edit: (document, answers) => addClient(document, answers, answers.get('scope') ?? []),
    }),
    'add-partner': registryCommand({
      summary: 'Registers a partner application of the desktop launch.',
      example:
        '--realm north/desktop --client-id my-partner --redirect-uri https://partner.example/callback --launch-url https://partner.example/launch',
      options: [o.desktopRealm, o.clientId, ...partnerOptions, o.sheet],
      informs: 'of addresses',
      edit: addPartnerWithSheet,
    }),
    'set-practices': registryCommand({
      summary: 'Replaces the practices that a client may launch for.',
      example: '--realm practices --client-id my-pms --practices ods:A81001',
      options: [...entry, ...practices],
      edit: setPractices,
    }),
    suspend: registryCommand({
      summary: 'Suspends a client or partner, which is then treated as unknown. Its entry is kept.',
      example: '--realm practices --client-id my-pms',
      options: entry,
      edit: suspend,
    }),
    resume: registryCommand({
      summary: 'Ends the suspension of a client or partner.',
      example: '--realm practices --client-id my-pms',
      options: entry,
      edit: resume,
    }),
    remove: registryCommand({
      summary: 'Removes a client or partner with its registration.',
      example: '--realm practices --client-id my-pms',
      options: entry,
      edit: remove,
    }),
    'roll-secret': registryCommand({
      summary: 'Gives a client a new secret. The old secret remains valid for some time.',
      example: '--realm practices --client-id my-pms --keep-old-hours 48',
      options: [o.realm, o.clientId, o.keepOldHours],
      informs: 'of addresses',
      edit: rollSecret,
    }),
    'set-callback': registryCommand({
      summary: 'Registers the address to which the order documents of a client are posted, or changes it.',
      example: '--realm practices --client-id my-pms --url https://pms.example/orders',
      options: [...entry, o.callbackUrl],
      seals: true,
      edit: setCallback,
    }),
    'roll-callback-secret': registryCommand({
      summary: 'Gives a callback a new secret. Both secrets sign callbacks for some time.',
      example: '--realm practices --client-id my-pms',
      options: [...entry, o.keepOldHours],
      seals: true,
      edit: rollCallbackSecret,
    }),
    'remove-callback': registryCommand({
      summary: 'Removes the callback of a client. Its pending deliveries are stopped.',
      example: '--realm practices --client-id my-pms',
      options: entry,
      edit: removeCallback,
    }),
    'reseal-callbacks': registryCommand({
      summary: 'Seals the secrets of all callbacks with the first of SEALING_KEYS_CALLBACK.',
      options: [],
      seals: true,
      edit: (document, _answers, context) => resealCallbacks(document, context),
    }),
    'add-issuer': registryCommand({
      summary: 'Trusts the access tokens of an external identity provider.',
      example: '--issuer https://login.example',
      options: [o.issuer, ...optionsOf(issuerMembers)],
      edit: addIssuer,
    }),
    'add-issuer-client': registryCommand({
      summary: 'Registers a client of a trusted identity provider, which may request launch URLs.',
      example: '--issuer https://login.example --client-id my-pms',
      options: [o.issuer, o.foreignClientId, ...launchOptions],
      edit: addIssuerClient,
    }),
  },
};

/**
 * Checks the callbacks, the directories and, with `PUBLIC_URL`, the required navigations of a registry.
 * Reading the file has checked everything else. Also reports the reasons why production refuses the registry.
 * The reasons count as problems only with `--production`.
 */
function check(document: RegistryDocument, answers: Answers, context: Context): Edit {
  const { path, registry } = document;
  const problems = locateFaults(document.text, [
    ...callbackProblems(document, context),
    ...directoryProblems(path, directoriesIn(registry)),
    ...listedIn(document),
    ...navigationFaultsIn(registry, context.publicUrl).map((fault) => `${fault.path} ${fault.message}`),
  ]);
  const production = productionRegistryProblems(registry);
  const refused = production.map((problem) => ['production refuses it', problem] as const);
  const isForProduction = answers.has(o.production.name);
  const isUsable = problems.length === 0;
  return {
    reported: isUsable
      ? [
          ['registry', 'can be used'],
          ...(production.length === 0 ? [['production', 'accepts it'] as const] : []),
          ...portalWarnings(registry),
          ...(isForProduction ? [] : refused),
        ]
      : [],
    result: { isUsable, problems, productionProblems: production },
    problems: [
      ...problems,
      ...(isForProduction ? refused.map(([word, problem]) => `${word}: ${problem}`) : []),
    ],
  };
}

/**
 * Warns if the registry has sandbox clients, which use a developer portal, beside other clients whose callback
 * secrets that portal can decrypt.
 */
function portalWarnings(registry: Registry) {
  const clients = entriesIn(registry).map(({ client }) => client);
  const exposed = clients.filter(({ sandbox, callback }) => sandbox !== true && callback !== undefined);
  if (exposed.length === 0 || !clients.some(({ sandbox }) => sandbox === true)) return [];
  const ids = exposed.map(({ clientId }) => clientId).join(', ');
  const text = `a developer portal with this registry can read the callback secrets of ${ids}. Deploy it separately, with sandbox clients only`;
  return [['warning', text] as const];
}
