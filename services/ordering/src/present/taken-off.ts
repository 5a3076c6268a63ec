import type { Catalogue } from '../domain/catalogue.ts';
import { coveredBy, listed } from '../domain/panels.ts';

/**
 * Describes the removed tests: a sentence for each panel,
 * `Ferritin removed: already in Haematinics profile.`
 */
export function describeTakenOff(
  takenOff: readonly string[],
  chosen: readonly string[],
  catalogue: Catalogue,
): string[] {
  const covered = coveredBy(chosen, catalogue).filter(({ test }) => takenOff.includes(test.code));
  const panels = new Set(covered.map(({ panel }) => panel));
  return [...panels].map((panel) => {
    const names = covered.filter((each) => each.panel === panel).map(({ test }) => test.name);
    return `${listed(names)} removed: already in ${panel.name}.`;
  });
}
