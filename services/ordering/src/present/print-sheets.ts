import type { PersonName } from '@clinical-launch/contracts';
import { answersFor } from '../domain/answers-for.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { samplesInDrawOrder } from '../domain/collection.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { createBarcode } from './barcode.ts';
import { presentRequest } from './request-report.ts';
import { writtenAnswer } from './written-answer.ts';
import type { WriteTime } from './written-time.ts';

type Presenting = { readonly catalogue: Catalogue; readonly write: WriteTime };

/**
 * Presents the request forms: one for each laboratory with live tests, because each goes with its own
 * samples.
 */
export async function presentForms(request: TestRequest, presenting: Presenting) {
  const report = presentRequest(request, presenting);
  const forms = report.batches
    .map((batch, index) => ({
      ...batch,
      tests: batch.tests.filter(({ isLive }) => isLive),
      answers: answersFor(request.batches[index] ?? { tests: [] }, request, presenting.catalogue).map(
        writtenAnswer,
      ),
    }))
    .filter(({ tests }) => tests.length > 0)
    .map(async (batch) => ({
      ...batch,
      barcode: await createBarcode(batch.orderReference, { heightMm: 10 }),
    }));
  return { report, sheets: await Promise.all(forms) };
}

/**
 * Presents the labels: one for each tube or pot of the samples that live tests need, taken or not, in order
 * of draw; and the samples without one, because they are labelled by hand.
 */
export async function presentLabels(request: TestRequest, { catalogue, write }: Presenting) {
  const name = labelName(request.parties.patient.name);
  const drawn = samplesInDrawOrder(request, catalogue);
  const printed = drawn.filter(({ container }) => container?.isLabelledByHand !== true);
  const labels = printed.map(async ({ sample, batch }) => {
    const { quantity = 1, completedAt } = sample;
    const label = {
      name,
      reference: batch.orderReference,
      barcode: await createBarcode(batch.orderReference, { heightMm: 7.5 }),
      laboratory: batch.provider.name,
      description: sample.description,
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

/**
 * Presents the name on a label: the surname in capitals first; the longer the name, the smaller its letters,
 * so that it fits completely (OLTR: HumanName, 70 and 35).
 */
function labelName({ family, given }: PersonName) {
  const surname = family.toUpperCase();
  const givenNames = given.join(' ');
  const length = surname.length + givenNames.length;
  return { surname, givenNames, size: length <= 24 ? 'large' : length <= 44 ? 'medium' : 'small' };
}
