import type { Action } from '@clinical-launch/contracts';
import type { ActionRule } from '../domain/action-rules.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { samplesInDrawOrder } from '../domain/collection.ts';
import { isLive } from '../domain/lifecycle.ts';
import { fullName } from '../domain/person-name.ts';
import { samplesOf } from '../domain/record-samples.ts';
import type { TestRequest } from '../domain/test-request.ts';
import { requestPage, resultPage } from './addresses.ts';

type Result = {
  readonly order: TestRequest;
  /** The version that this launch brought it to. */
  readonly version: number;
  /** The other requests that the launch submitted. */
  readonly others: readonly TestRequest[];
  readonly action: Action;
  readonly rule: ActionRule;
  readonly home: string;
  readonly catalogue: Catalogue;
};

/** What was done, by the action that did it. */
const titles: Readonly<Partial<Record<Action, string>>> = {
  OrderTest: 'Order submitted',
  UpdateTest: 'Request updated',
};

/** Presents the result of a submission: what is to be done next, and what else the launch submitted. */
export function presentResult({ order, version, others, action, rule, home, catalogue }: Result) {
  return {
    title: titles[action] ?? 'Samples recorded',
    order,
    version,
    isRemoved: !order.batches.some(({ tests }) => tests.some(isLive)),
    isSampleNeeded: samplesOf(order).length > 0,
    draws: samplesInDrawOrder(order, catalogue).filter(({ sample }) => sample.completedAt === undefined),
    others: others.map((request) => ({
      href: resultPage(home, request),
      references: request.batches.map(({ orderReference }) => orderReference).join(', '),
      isComplete: request.status === 'Complete',
      // A launch for one patient has the name on every page.
      ...(rule.sees === 'practice' ? { patient: fullName(request.parties.patient.name) } : {}),
    })),
    isList: rule.opens === 'list',
    mayRecordSamples: rule.may.includes('record-samples'),
    rest: requestPage(home, rule, order),
  };
}
