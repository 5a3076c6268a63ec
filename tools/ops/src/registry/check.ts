import { productionRegistryProblems } from '@clinical-launch/trust/production-registry';
import type { Answers } from '../command.ts';
import { callbackProblems } from './callbacks.ts';
import { type Context, directoriesIn, directoryProblems, type Edit } from './registry-command.ts';
import type { RegistryDocument } from './registry-document.ts';

/**
 * Checks the callbacks and the directories of a registry; reading the file has checked everything else.
 * Reports the problems for production.
 */
export function check(document: RegistryDocument, _answers: Answers, context: Context): Edit {
  const { path, registry } = document;
  const problems = [
    ...callbackProblems(document, context),
    ...directoryProblems(path, directoriesIn(registry)),
  ];
  const production = productionRegistryProblems(registry);
  return {
    reported:
      problems.length > 0
        ? []
        : [
            ['registry', 'can be used'],
            ...(production.length === 0
              ? [['production', 'takes it'] as const]
              : production.map((problem) => ['production refuses it', problem] as const)),
          ],
    result: { isUsable: problems.length === 0, problems, productionProblems: production },
    problems,
  };
}
