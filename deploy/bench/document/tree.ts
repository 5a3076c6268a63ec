import { localDateTime, type Order } from '@clinical-launch/contracts';
import { options } from './order.ts';

type Code = Order['batches'][number]['provider']['code'];

const at = (time: string) => localDateTime(time, options.timeZone);
const codeOf = ({ value, scheme }: Code) => ({ value, scheme });

const batchOf = (batch: Order['batches'][number]) => ({
  refid: batch.id,
  guid: batch.guid,
  orderReference: batch.orderReference,
  Provider: { name: batch.provider.name, identificationCode: codeOf(batch.provider.code) },
  OrderCategory: batch.category,
  Status: batch.status,
  LastStatusDate: at(batch.statusAt),
  sample: batch.samples.map((sample) => ({
    refid: sample.id,
    description: sample.description,
    sampleCompletionTime: sample.completedAt === undefined ? '' : at(sample.completedAt),
  })),
  testOrder: batch.tests.map((test) => ({
    refid: test.id,
    sample: { refid: test.sample },
    testDescription: test.description,
    code: { value: test.code.value, scheme: test.code.scheme, term: test.code.term },
    Status: test.status,
    LastStatusDate: at(test.statusAt),
  })),
});

/** Returns the elements of the order document as the libraries take them. */
export function treeOf({ guid, patient, requester, performer, authoredOn, batches }: Order) {
  return {
    messageId: options.messageId,
    serviceProvider: {
      system: { systemName: options.system.name, systemVersion: options.system.version },
      organisation: {
        name: performer.name,
        identificationCode: codeOf({ value: performer.identifier.value, scheme: 'LOCAL' }),
      },
    },
    patient: {
      dateOfBirth: patient.birthDate.replaceAll('-', ''),
      familyName: patient.name.family,
      firstNames: patient.name.given.join(' '),
      title: patient.name.title ?? '',
      nhsNumber: patient.identifiers.find(({ system }) => system === 'nhs-number')?.value ?? '',
    },
    orderHeader: {
      guid,
      requestor: {
        familyName: requester.name.family,
        firstNames: requester.name.given.join(' '),
        title: requester.name.title ?? '',
        identificationCode: codeOf({ value: requester.identifier.value, scheme: 'NHSGPNATIONALCODES' }),
      },
      timeofRequest: at(authoredOn),
      orderBatch: batches.map(batchOf),
    },
  };
}
