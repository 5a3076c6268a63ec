import type { IncomingMessage } from 'node:http';
import { setHeaders } from '@clinical-launch/http/answer';
import type { Mounted } from '@clinical-launch/http/app';
import { readForm } from '@clinical-launch/http/body';
import type { Handler } from '@clinical-launch/http/endpoint';
import type Provider from 'oidc-provider';
import { badRequest } from '../records.ts';
import { type Simulation, simulated } from '../simulator.ts';
import { findPerson, people } from './people.ts';

const application = { name: 'Staff sign-in (demo)', home: '/' };
const path = '/demo/staff';

/**
 * Creates the demo's identity provider for staff, below `/demo/staff`. It is loaded with its first request,
 * because few starts need it. Its sign-in page asks for no password: it lists invented people.
 */
export function staffSimulator(simulation: Simulation): Pick<Required<Mounted>, 'endpoints' | 'below'> {
  const { config, headers, show } = simulation;
  const { protocol, host } = new URL(config.publicUrl);
  let loading: Promise<Provider> | undefined;

  /** The platform reaches the provider within the deployment; the addresses in it are for browsers. */
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
    const person = findPerson((await readForm(request, response)).get('person'));
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
          // Its pages and redirects follow forms of the platform.
          setHeaders(response, headers);
          await provider.callback()(request, response);
        },
      },
    ],
  };
}
