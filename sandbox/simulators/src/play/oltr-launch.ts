import { randomUUID } from 'node:crypto';
import type { LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { buildServiceRequest, createPmsClient } from '@clinical-launch/pms-client';
import { demoSecret } from '@clinical-launch/trust/production-registry';
import { Browser } from './browser.ts';
import { expectPage, orderTests } from './order-tests.ts';
import {
  expect,
  expectStory,
  type PlayedPlatform,
  printHeading,
  printStep,
  reachedAt,
  showDocument,
} from './steps.ts';

/**
 * Plays one OLTR launch as a PMS and its user would, step by step.
 * @param request the launch request; by default, an order for an invented patient
 * @throws Error at the first step that fails
 */
export async function playOltrLaunch(
  played: PlayedPlatform,
  request: LaunchRequest = anOrder(),
): Promise<void> {
  printHeading('An order: practice system, browser and the order document');
  const { baseUrl, scope, namespaces } = played;
  const tokenUrl = `${baseUrl}/idp/demo/oauth2/v2.0/token`;
  const pms = createPmsClient({
    baseUrl,
    tokenUrl,
    scope,
    clientId: 'pms-demo',
    clientSecret: demoSecret('pms-demo'),
  });
  const launch = await pms.requestLaunch(buildServiceRequest(request, namespaces));
  printStep('the PMS has a launch URL', `correlation id ${launch.correlationId}`);

  const browser = new Browser(reachedAt(played));
  const choose = expectPage(await browser.open(launch.url), 'Choose tests');
  printStep('the browser opened the OLTR system', choose.url);
  const replay = await new Browser(reachedAt(played)).open(launch.url);
  expect(replay.status === 410, 'a second launch with the same URL is answered 410');

  const { tests, document } = await orderTests(browser, choose);
  printStep('two tests are chosen', tests.map(({ code, location }) => `${code} (${location})`).join(', '));
  expect(document.split('<orderBatch>').length - 1 === 2, 'the order document has two batches');
  showDocument(document);
  await expectStory(played, launch.correlationId, [
    'launch.url.issued.v1',
    'launch.token.redeemed.v1',
    'order.submitted.v1',
    'order.document.returned.v1',
  ]);
}

/** Returns a launch request to order tests for an invented patient. */
export function anOrder(): LaunchRequest {
  const practice = {
    identifier: { system: 'ods-organization-code', value: 'B82017' },
    name: 'Harbour Surgery',
  } as const;
  return {
    action: 'OrderTest',
    originatingId: `play-${randomUUID()}`,
    authoredOn: new Date().toISOString(),
    author: { username: 'a.okonkwo', name: { title: 'Dr', family: 'Okonkwo', given: ['Adaeze'] } },
    patient: {
      name: { title: 'Mrs', family: 'Whitfield', given: ['Margaret', 'Anne'] },
      birthDate: '1958-02-28',
      gender: 'female',
      address: { lines: ['12 Harbour Lane', 'Whitby'], postalCode: 'YO21 3PU' },
      identifiers: [{ system: 'nhs-number', value: '9434765919' }],
      telecom: [],
    },
    requester: {
      identifier: { system: 'professional-code', value: 'G8134567' },
      name: { title: 'Dr', family: 'Bairstow', given: ['Thomas'] },
    },
    practice,
    performer: { identifier: { system: 'performing-org', value: 'RCB00' }, name: 'North Coast Pathology' },
  };
}
