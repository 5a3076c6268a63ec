import type { PersonName } from '@clinical-launch/contracts/launch-context';
import type { WriteTime } from '@clinical-launch/contracts/written-time';
import { fullName } from '../domain/person-name.ts';
import type { Printing } from '../domain/printing.ts';

/** Presents when and by whom a paper is printed, and how often it was printed before. */
export function presentPrinting({ at, before }: Printing, by: PersonName, write: WriteTime) {
  return {
    at: write(at),
    by: fullName(by),
    ...(before && {
      before: { times: before.times, at: write(before.at), by: fullName(before.author.name) },
    }),
  };
}
