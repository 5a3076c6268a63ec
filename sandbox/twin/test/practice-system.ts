import { createPkcePair, type PkcePair } from '@clinical-launch/pms-client';
import { aServiceRequest } from '@clinical-launch/testing/service-request';

/** The actions that a conformance run asks of a practice management system. */
export type PracticeAction = 'launch' | 'amend';

/** What a practice management system does. A test replaces a member to make the system wrong on purpose. */
export type Behaviour = {
  /** Uses an access token for several launches. */
  readonly keepsToken: boolean;
  /** Requests a new access token after 401. */
  readonly renewsToken: boolean;
  readonly createPair: () => PkcePair;
  /** Returns the identifier of a launch. `opened` contains the identifiers of the launches so far. */
  readonly identifierFor: (action: PracticeAction, opened: readonly string[]) => string;
  /** Returns the address that the browser opens. */
  readonly addressFor: (url: string, pair: PkcePair) => string;
  /** The number of immediate repetitions of a refused request, by the status of the refusal. */
  readonly repeats: Readonly<Record<number, number>>;
  /** Opens a launch URL again after 410. */
  readonly reopens: boolean;
  readonly referer?: string;
  /** The id of the run in the header Clinical-Launch-Run of requests for launch URLs. */
  readonly run?: string;
  /** A query that is added to the URL of token requests. */
  readonly tokenQuery?: string;
};

const rightHabits: Behaviour = {
  keepsToken: true,
  renewsToken: true,
  createPair: createPkcePair,
  identifierFor: (action, opened) => (action === 'amend' && opened[0]) || crypto.randomUUID(),
  addressFor: (url, { codeVerifier }) => `${url}&codeVerifier=${codeVerifier}`,
  repeats: { 401: 1, 500: 1 },
  reopens: false,
};

/**
 * Creates a practice management system that follows the guide, except for `habits`. Its `launch` also opens
 * the launch URL, as the user's browser does. If a request is refused, the user launches again.
 */
export function createPracticeSystem(
  { url, clientId }: { readonly url: string; readonly clientId: string },
  habits: Partial<Behaviour> = {},
) {
  const has = { ...rightHabits, ...habits };
  const opened: string[] = [];
  let token: string | undefined;

  const renew = async () => {
    const answer = await fetch(`${url}/idp/demo/oauth2/v2.0/token${has.tokenQuery ?? ''}`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: `${clientId}-secret`,
        scope: 'api://clinical-launch/.default',
      }),
    });
    const { access_token: issued }: { readonly access_token: string } = JSON.parse(await answer.text());
    return issued;
  };
  const request = async (serviceRequest: object, { codeChallenge }: PkcePair) => {
    token ??= await renew();
    const answer = await fetch(`${url}/AccessApi/RequestLaunchUrl`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'Code-Challenge': codeChallenge,
        ...(has.run !== undefined && { 'Clinical-Launch-Run': has.run }),
      },
      body: JSON.stringify(serviceRequest),
    });
    if (answer.status === 401 && has.renewsToken) token = undefined;
    return answer;
  };
  const open = (address: string) =>
    fetch(address, has.referer === undefined ? {} : { headers: { Referer: has.referer } });

  return {
    launch: async (action: PracticeAction): Promise<void> => {
      if (!has.keepsToken) token = undefined;
      const pair = has.createPair();
      const originatingId = has.identifierFor(action, opened);
      const serviceRequest = aServiceRequest({
        action: action === 'launch' ? 'OrderTest' : 'UpdateTest',
        originatingId,
      });
      let answer = await request(serviceRequest, pair);
      for (let left = has.repeats[answer.status] ?? 0; left > 0 && !answer.ok; left -= 1)
        answer = await request(serviceRequest, pair);
      const body = await answer.text();
      if (!answer.ok) return;
      const { url: launchUrl }: { readonly url: string } = JSON.parse(body);
      const address = has.addressFor(launchUrl, pair);
      const { status } = await open(address);
      if (status === 200) opened.push(originatingId);
      if (status === 410 && has.reopens) await open(address);
    },
  };
}
