import type { Registry } from '@clinical-launch/contracts/registry';
import { navigationFaultsIn } from '@clinical-launch/contracts/registry-reading';
import { productionRegistryProblems } from '@clinical-launch/trust/production-registry';
import type { Answers } from '../command.ts';
import { callbackProblems } from './callbacks.ts';
import { entriesIn } from './entries.ts';
import { options as o } from './options.ts';
import { type Context, directoriesIn, directoryProblems, type Edit, listedIn } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

/**
 * Checks the callbacks, the directories and, with `PUBLIC_URL`, the required navigations of a registry.
 * Reading the file has checked everything else. Also reports the reasons why production refuses the registry.
 * The reasons count as problems only with `--production`.
 */
export function check(document: RegistryDocument, answers: Answers, context: Context): Edit {
  const { path, registry } = document;
  const problems = [
    ...callbackProblems(document, context),
    ...directoryProblems(path, directoriesIn(registry)),
    ...listedIn(document),
    ...navigationFaultsIn(registry, context.publicUrl).map((fault) => `${fault.path} ${fault.message}`),
  ];
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
