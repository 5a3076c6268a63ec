import { createPkcePair } from '@clinical-launch/pms-client';
import { Browser } from '@clinical-launch/simulators/play/browser';
import { submissionOf } from '@clinical-launch/simulators/play/order-tests';
import { aServiceRequest } from '@clinical-launch/testing/service-request';

export type PlatformAddress = { readonly url: string; tokenOf(clientId: string): Promise<string> };

type LaunchRequestOptions = {
  readonly payload?: object | string;
  readonly path?: string;
  readonly token?: string;
  /** Headers that replace headers of a valid request. An empty value removes the header. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Requests a launch as a practice system does, with the headers, path and payload of the test. */
export async function requestLaunch(platform: PlatformAddress, options: LaunchRequestOptions = {}) {
  const { payload = aServiceRequest(), path = '/AccessApi/RequestLaunchUrl' } = options;
  const { codeVerifier, codeChallenge } = createPkcePair();
  const headers = {
    Authorization: `Bearer ${options.token ?? (await platform.tokenOf('pms-demo'))}`,
    'Content-Type': 'application/json',
    'Code-Challenge': codeChallenge,
    ...options.headers,
  };
  const response = await fetch(platform.url + path, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')),
    body: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
  const { url = '' } = response.ok ? ((await response.json()) as { url?: string }) : {};
  return { response, guid: guidOf(response), url, codeVerifier };
}

/** Returns the correlation id of an answer. */
export const guidOf = (response: Response): string => response.headers.get('x-correlation-id') ?? '';

/** Opens a launch as a browser does, and returns the answer. */
export const openLaunch = (url: string, codeVerifier: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}&codeVerifier=${codeVerifier}`, init);

/** Orders a test in a launch, in a browser without scripts. */
export async function orderIn(url: string, codeVerifier: string): Promise<void> {
  const browser = new Browser();
  const choose = await browser.open(`${url}&codeVerifier=${codeVerifier}`);
  const [, test = ''] = /name="test" type="checkbox" value="([^"]+)"/.exec(choose.html) ?? [];
  const review = await browser.open(choose.url, new URLSearchParams({ test, action: 'review' }));
  const result = await browser.open(review.url, submissionOf(review));
  if (!result.html.includes('Request submitted'))
    throw new Error(`The request was not submitted: ${result.status}`);
}
