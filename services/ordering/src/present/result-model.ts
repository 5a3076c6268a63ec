import type { Action } from '@clinical-launch/contracts/launch-context';
import { inWords } from '../../public/named-tests.js';
import type { ActionRule } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { samplesInDrawOrder } from '../domain/collection.ts';
import { isCancelled, isLive } from '../domain/lifecycle.ts';
import { patientName } from '../domain/person-name.ts';
import { samplesOf } from '../domain/record-samples.ts';
import { codeOf, type TestRequest } from '../domain/test-request.ts';
import { requestPage, resultPage } from './addresses.ts';
import { adviseOnRequest } from './exposure-advice.ts';

type Result = {
  readonly order: TestRequest;
  readonly version: number;
  readonly others: readonly TestRequest[];
  readonly action: Action;
  readonly rule: ActionRule;
  readonly home: string;
  readonly catalogue: Catalogue;
};

const titles: Readonly<Partial<Record<Action, string>>> = {
  OrderTest: 'Request submitted',
  UpdateTest: 'Request updated',
};

/** Returns a laboratory's telephone number for urgent requests, if the catalogue contains one. */
const telephoneOf = (
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

/**
 * Tells the user of a Complete request what to do if it is wrong: `If it is wrong, telephone North Coast
 * Pathology on 01632 960201.`
 */
export function adviseIfWrong({ batches }: Pick<TestRequest, 'batches'>, catalogue: Catalogue): string {
  const laboratories = batches
    .filter(({ tests }) => tests.some(isLive))
    .map(({ provider }) => {
      const telephone = telephoneOf(provider, catalogue);
      return telephone === undefined ? provider.name : `${provider.name} on ${telephone}`;
    });
  return laboratories.length === 0
    ? ''
    : `If it is wrong, telephone ${inWords.format(new Set(laboratories))}.`;
}

/** Presents the result of a submission: the next steps, and the other submissions of the launch. */
export function presentResult({ order, version, others, action, rule, home, catalogue }: Result) {
  const waiting = samplesInDrawOrder(order, catalogue).filter(
    ({ sample }) => sample.completedAt === undefined,
  );
  return {
    title: isCancelled(order) ? 'Request cancelled' : (titles[action] ?? 'Samples recorded'),
    order,
    version,
    ifWrong: adviseIfWrong(order, catalogue),
    ...(isCancelled(order) ? { remains: presentRemains(order, catalogue) } : {}),
    isUrgent: order.priority === 'urgent',
    toTelephone: order.batches
      .flatMap(({ tests }) => tests.filter(isLive))
      .filter((test) => catalogue.orderables.get(codeOf(test))?.telephoneFirst === true)
      .map(({ description }) => description),
    exposure: adviseOnRequest(order, catalogue),
    isPaperNeeded: order.clinicalDetails !== '' || order.answers.length > 0,
    laboratories: order.batches
      .filter(({ tests }) => tests.some(isLive))
      .map(({ provider }) => ({ name: provider.name, telephone: telephoneOf(provider, catalogue) })),
    isSampleNeeded: samplesOf(order).length > 0,
    waiting,
    draws: waiting.filter(({ batch }) => !batch.isElsewhere),
    elsewhere: waiting.filter(({ batch }) => batch.isElsewhere),
    others: others.map((request) => ({
      href: resultPage(home, request),
      references: request.batches.map(({ orderReference }) => orderReference).join(', '),
      isComplete: request.status === 'Complete',
      isCancelled: isCancelled(request),
      // A launch for one patient already shows the patient's name on every page.
      ...(rule.sees === 'practice' ? { patient: patientName(request.parties.patient.name) } : {}),
    })),
    isList: rule.opens === 'list',
    mayRecordSamples: rule.may.includes('record-samples'),
    rest: requestPage(home, rule, order),
  };
}
