import type { LaunchPatient, PersonName } from '@clinical-launch/contracts/launch-context';
import { type WriteTime, writtenDate } from '@clinical-launch/contracts/time';
import type { Catalogue } from '../domain/catalogue.ts';
import { samplesInDrawOrder } from '../domain/collection.ts';
import { inCapitals } from '../domain/person-name.ts';
import type { LabelStock } from '../domain/printing.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import { createBarcode } from './barcode.ts';
import { presentPrintedIdentifiers } from './patient-banner.ts';

/**
 * Presents the labels of a request, in order of draw. There is a label for each tube or pot of the samples
 * that live tests need, whether collected or not. `byHand` lists samples that must be labelled by hand.
 */
export async function presentLabels(
  request: TestRequest,
  { catalogue, write }: { readonly catalogue: Catalogue; readonly write: WriteTime },
) {
  const patient = presentPatient(request.parties.patient);
  const drawn = samplesInDrawOrder(request, catalogue);
  const printed = drawn.filter(({ container }) => container?.isLabelledByHand !== true);
  const labels = printed.map(async ({ sample, batch, tests }) => {
    const { quantity = 1, completedAt } = sample;
    const label = {
      ...patient,
      reference: batch.orderReference,
      barcode: await createBarcode(batch.orderReference, { heightMm: 7.5 }),
      laboratory: batch.provider.name,
      isElsewhere: batch.isElsewhere,
      description: sample.description,
      tests: tests
        .map((test) => catalogue.orderables.get(codeOf(test))?.abbreviation ?? test.description)
        .join(', '),
      ...(completedAt === undefined ? {} : { takenAt: write(completedAt) }),
    };
    return Array.from({ length: quantity }, (_, index) => ({
      ...label,
      ...(quantity === 1 ? {} : { number: `${index + 1} of ${quantity}` }),
    }));
  });
  const byHand = drawn.filter((each) => !printed.includes(each));
  return {
    sheets: (await Promise.all(labels)).flat(),
    byHand: byHand.map(({ sample }) => sample.description),
  };
}

/** The text for each gender on a label. An unknown gender is blank, because a letter could be misread. */
const sexes = { female: 'F', male: 'M', other: 'Other', unknown: '' } as const;

function presentPatient({ name, birthDate, gender, identifiers }: LaunchPatient) {
  return {
    name: labelName(name),
    born: writtenDate(birthDate),
    sex: sexes[gender],
    identifier: presentPrintedIdentifiers({ identifiers })[0],
  };
}

/**
 * Presents the name on a label, with the surname first in capitals. A longer name has smaller letters. A
 * surname has at most 70 characters, and the given names have at most 35 in total (OLTR: HumanName).
 */
function labelName({ family, given }: PersonName) {
  const surname = inCapitals(family);
  const givenNames = given.join(' ');
  const length = surname.length + givenNames.length;
  return { surname, givenNames, size: length <= 24 ? 'large' : length <= 44 ? 'medium' : 'small' };
}

type Chosen = { readonly stock: LabelStock; readonly start: number };

/** Presents the list boxes of the label stock and of the first label on a sheet. */
export function presentLabelStocks(stocks: readonly LabelStock[], { stock: chosen, start }: Chosen) {
  const sheet = stocks.find((stock) => stock.sheet !== undefined)?.sheet ?? { rows: 1, columns: 1 };
  return {
    stocks: stocks.map(({ id, name }) => ({ value: id, text: name, selected: id === chosen.id })),
    places: Array.from({ length: sheet.rows * sheet.columns }, (_, index) => ({
      value: index + 1,
      text: `Row ${Math.floor(index / sheet.columns) + 1}, label ${(index % sheet.columns) + 1}`,
      selected: index + 1 === start,
    })),
  };
}
