import type { Order } from '@clinical-launch/contracts/order/order';
import { renderOrderDocument } from '@clinical-launch/contracts/order/order-document';
import { type Bench, type Figure, measureCpu } from '../bench.ts';
import { options, order } from './order.ts';

const ours = 'ours';

const contenders: Readonly<Record<string, () => string>> = {
  [ours]: () => renderOrderDocument(order, options),
  'a template string without escapes and local times': () => templateString(order),
};

/** Measures the CPU for one order document with two batches of two tests. */
export const orderDocument: Bench = {
  name: 'document',
  async run({ short, progress }) {
    const [rounds, milliseconds] = short ? [3, 100] : [11, 400];
    const results = new Map<string, { values: number[]; disturbed: number }>();
    for (let round = -2; round < rounds; round += 1) {
      progress(round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`);
      for (const [name, render] of Object.entries(contenders)) {
        const { us, isDisturbed } = await measure(render, milliseconds);
        if (round < 0) continue;
        const result = results.get(name) ?? { values: [], disturbed: 0 };
        result.values.push(us);
        result.disturbed += isDisturbed ? 1 : 0;
        results.set(name, result);
      }
    }
    return [...results].map(([name, result]): Figure => {
      const goal = name === ours ? { goal: { atMost: 12 } } : {};
      return { name: `order document, ${name}`, unit: 'µs', ...result, ...goal };
    });
  },
};

async function measure(render: () => string, milliseconds: number) {
  let count = 0;
  const { cpuUs, isDisturbed } = await measureCpu([process.pid], async () => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) for (let each = 0; each < 20; each += 1, count += 1) render();
  });
  return { us: cpuUs / count, isDisturbed };
}

/** Returns a similar document from a template string, to compare our cost with the lowest possible cost. */
function templateString({ patient, requester, performer, guid, authoredOn, batches }: Order): string {
  return `<onlineOrder xmlns="${options.xmlNamespace}"><messageId>${options.messageId}</messageId><serviceProvider><system><systemName>${options.system.name}</systemName><systemVersion>${options.system.version}</systemVersion></system><organisation><name>${performer.name}</name><identificationCode><value>${performer.identifier.value}</value></identificationCode></organisation></serviceProvider><patient><dateOfBirth>${patient.birthDate}</dateOfBirth><familyName>${patient.name.family}</familyName><firstNames>${patient.name.given.join(' ')}</firstNames></patient><orderHeader><guid>${guid}</guid><requestor><familyName>${requester.name.family}</familyName></requestor><timeofRequest>${authoredOn}</timeofRequest>${batches
    .map(
      (batch) =>
        `<orderBatch><refid>${batch.id}</refid><guid>${batch.guid}</guid><Provider><name>${batch.provider.name}</name></Provider><Status>${batch.status}</Status><LastStatusDate>${batch.statusAt}</LastStatusDate>${batch.samples.map((sample) => `<sample><refid>${sample.id}</refid><description>${sample.description}</description></sample>`).join('')}${batch.tests.map((test) => `<testOrder><refid>${test.id}</refid><code>${test.code.value}</code><LastStatusDate>${test.statusAt}</LastStatusDate></testOrder>`).join('')}</orderBatch>`,
    )
    .join('')}</orderHeader></onlineOrder>`;
}
