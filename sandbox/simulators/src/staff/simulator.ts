import type { IncomingMessage } from 'node:http';
import { setHeaders } from '@clinical-launch/http/answer';
import type { Mounted } from '@clinical-launch/http/app';
import { readForm } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import type Provider from 'oidc-provider';
import { badRequest, findPerson, people } from '../records.ts';
import { type Simulation, simulated } from '../simulator.ts';

const application = { name: 'Staff sign-in (demo)', home: '/' };
const path = '/demo/staff';

/**
 * Creates the demo's identity provider for staff, below `/demo/staff`. The provider is loaded at its first
 * request, because few runs need it. Its sign-in page lists invented people, and asks for no password.
 */
export function staffSimulator(simulation: Simulation): Pick<Required<Mounted>, 'endpoints' | 'below'> {
  const { config, headers, show } = simulation;
  const { protocol, host } = new URL(config.publicUrl);
  let loading: Promise<Provider> | undefined;

  /**
   * Loads the provider, and sets the public address in the headers of the request. The platform calls the
   * provider at an internal address, but the answers must contain addresses for browsers.
   */
  const load = (request: IncomingMessage) => {
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    request.headers['x-forwarded-host'] = host;
    loading ??= import('./provider.ts').then(({ createStaffProvider }) => createStaffProvider(simulation));
    return loading;
  };

  const showSignIn: Handler = async ({ request, response }) => {
    const provider = await load(request);
    const { uid } = await provider.interactionDetails(request, response);
    show(response, 'staff/views/sign-in.njk', { application, people, uid });
  };

  const signIn: Handler = async ({ request, response }) => {
    const provider = await load(request);
    const person = findPerson((await readForm({ request, response })).get('person'));
    if (person === undefined) throw badRequest('Person not found');
    setHeaders(response, headers);
    await provider.interactionFinished(request, response, { login: { accountId: person.sub } });
  };

  return {
    endpoints: [simulated(`${path}/sign-in/:uid`, { GET: showSignIn, POST: signIn })],
    below: [
      {
        path,
        serve: async (request, response) => {
          const provider = await load(request);
          // The pages and redirects of the provider need the same headers as the pages of the simulators.
          setHeaders(response, headers);
          await provider.callback()(request, response);
        },
      },
    ],
  };
}
