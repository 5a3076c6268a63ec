import { type CodedIdentifier, codeKeyOf } from '@clinical-launch/contracts';
import { type Catalogue, catalogueError } from './catalogue.ts';
import type { TestRequest } from './test-request.ts';

/** The catalogues of the laboratories, chosen by the performer that a payload names (OLTR: ServiceRequest, performer). */
export type Catalogues = {
  readonly all: readonly Catalogue[];
  /** The catalogue that names a performer, otherwise the default; undefined if there is neither. */
  find(performer: { readonly identifier: CodedIdentifier }): Catalogue | undefined;
  /**
   * The catalogue of the laboratory that a request went to, whatever launch reads or changes it. It is empty if there
   * is none any more: the request has its own words, so that it can be read, and its tests can be removed.
   */
  ofRequest(request: Pick<TestRequest, 'parties'>): Catalogue;
};

const noCatalogue: Catalogue = {
  performers: [],
  locations: [],
  containers: new Map(),
  groups: [],
  orderables: new Map(),
  questions: new Map(),
  orderSets: new Map(),
};

/**
 * Combines catalogues. The one that names no performers is the default.
 * @throws TypeError that lists every performer and id that two of them claim, and a second default.
 */
export function createCatalogues(all: readonly Catalogue[]): Catalogues {
  const byPerformer = new Map<string, Catalogue>();
  const ids = new Set<string>();
  const faults: string[] = [];
  for (const catalogue of all) {
    const { id, performers } = catalogue;
    if (id !== undefined && ids.has(id)) faults.push(`id ${id} is that of two catalogues`);
    if (id !== undefined) ids.add(id);
    for (const { system, code } of performers) {
      const key = codeKeyOf({ system, value: code });
      if (byPerformer.has(key)) faults.push(`performers: ${system} ${code} is named twice`);
      byPerformer.set(key, catalogue);
    }
  }
  const [standard, ...others] = all.filter(({ performers }) => performers.length === 0);
  if (others.length > 0)
    faults.push('performers must be named by all catalogues but one, which is the default');
  if (faults.length > 0) throw catalogueError(faults);
  const find: Catalogues['find'] = ({ identifier }) => byPerformer.get(codeKeyOf(identifier)) ?? standard;
  return { all, find, ofRequest: ({ parties }) => find(parties.performer) ?? noCatalogue };
}
