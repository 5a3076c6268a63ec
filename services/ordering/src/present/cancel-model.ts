import type { Catalogue } from '../domain/catalogue.ts';
import type { TestRequest } from '../domain/test-request.ts';

/** Returns a laboratory's telephone number for urgent requests, if the catalogue contains one. */
export const telephoneOf = (
  { code }: TestRequest['batches'][number]['provider'],
  { locations }: Pick<Catalogue, 'locations'>,
) =>
  locations.find((location) => location.code.value === code.value && location.code.scheme === code.scheme)
    ?.telephone;

/** Presents what the user must do with the papers and the samples of a cancelled request. */
export const presentRemains = ({ batches }: TestRequest, catalogue: Catalogue) => ({
  references: batches.map(({ orderReference }) => orderReference),
  collected: batches.flatMap(({ samples, provider }) =>
    samples
      .filter(({ completedAt }) => completedAt !== undefined)
      .map(({ description }) => ({
        description,
        laboratory: provider.name,
        telephone: telephoneOf(provider, catalogue),
      })),
  ),
});
