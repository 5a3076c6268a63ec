import { type CodedIdentifier, codeKeyOf } from '@clinical-launch/contracts/coded-identifiers';
import { bareCode } from '@clinical-launch/contracts/formats';
import { type Catalogue, catalogueError } from './catalogue.ts';
import type { TestRequest } from './test-request.ts';

/**
 * The catalogues of the laboratories. The performer in the payload of a launch selects the catalogue (OLTR:
 * ServiceRequest, performer).
 */
export type Catalogues = {
  readonly all: readonly Catalogue[];
  /**
   * Returns the catalogue that contains a performer. Otherwise, returns the default catalogue, if it exists.
   */
  find(performer: { readonly identifier: CodedIdentifier }): Catalogue | undefined;
  /**
   * Returns the catalogue of the laboratory to which a request was sent, even if the launch names another
   * laboratory. If that catalogue was removed, returns an empty catalogue. Users can then still read the
   * request, which contains its own texts, and remove its tests.
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
  common: [],
  elsewhere: [],
};

/**
 * Combines catalogues. The catalogue without performers is the default.
 * @throws TypeError that lists every performer and id that two catalogues share, and a second default
 *   catalogue
 */
export function createCatalogues(all: readonly Catalogue[]): Catalogues {
  const byPerformer = new Map<string, Catalogue>();
  const ids = new Set<string>();
  const faults: string[] = [];
  for (const catalogue of all) {
    const { id, performers } = catalogue;
    if (id !== undefined && ids.has(id)) faults.push(`id ${id} is in two catalogues`);
    if (id !== undefined) ids.add(id);
    for (const { system, code } of performers) {
      const key = codeKeyOf({ system, value: bareCode(code) });
      if (byPerformer.has(key)) faults.push(`performers: ${system} ${code} is in two catalogues`);
      byPerformer.set(key, catalogue);
    }
  }
  const [standard, ...others] = all.filter(({ performers }) => performers.length === 0);
  if (others.length > 0)
    faults.push('performers must be present in all catalogues except one, which is the default');
  if (faults.length > 0) throw catalogueError(faults);
  const find: Catalogues['find'] = ({ identifier }) => byPerformer.get(codeKeyOf(identifier)) ?? standard;
  return { all, find, ofRequest: ({ parties }) => find(parties.performer) ?? noCatalogue };
}
