import { readForm } from '@clinical-launch/http/body';
import { createRouter } from '@clinical-launch/http/router';
import type { NextFunction, Request, RequestHandler, Response, Router } from 'express';
import type Provider from 'oidc-provider';
import { badRequest } from '../records.ts';
import type { Simulation } from '../simulator.ts';
import { findPerson, people } from './people.ts';

const application = { name: 'Staff sign-in (demo)', home: '/' };

/**
 * Creates the demo's identity provider for staff, below `/demo/staff`. It is loaded with its first request,
 * because few starts need it. Its sign-in page asks for no password: it lists invented people.
 */
export function staffSimulator(simulation: Simulation): Router {
  const { config, headers, show } = simulation;
  const { protocol, host } = new URL(config.publicUrl);
  let loading: Promise<Provider> | undefined;
  const load = () => {
    loading ??= import('./provider.ts').then(({ createStaffProvider }) => createStaffProvider(simulation));
    return loading;
  };

  /** The platform reaches the provider within the deployment; the addresses in it are for browsers. */
  const nameAsPublic = ({ headers: sent }: Request, _response: Response, next: NextFunction) => {
    sent['x-forwarded-proto'] = protocol.slice(0, -1);
    sent['x-forwarded-host'] = host;
    next();
  };

  const showSignIn: RequestHandler<{ uid: string }> = async (request, response) => {
    const provider = await load();
    const { uid } = await provider.interactionDetails(request, response);
    show(response, 'staff/views/sign-in.njk', { application, people, uid });
  };

  const signIn: RequestHandler<{ uid: string }> = async (request, response) => {
    const provider = await load();
    const person = findPerson((await readForm(request, response)).get('person'));
    if (person === undefined) throw badRequest('Person not found');
    response.set(headers);
    await provider.interactionFinished(request, response, { login: { accountId: person.sub } });
  };

  const router = createRouter();
  router.use('/demo/staff', nameAsPublic);
  router.get('/demo/staff/sign-in/:uid', showSignIn);
  router.post('/demo/staff/sign-in/:uid', signIn);
  router.use('/demo/staff', async (request, response) => {
    const provider = await load();
    // Its pages and redirects follow forms of ours.
    response.set(headers);
    await provider.callback()(request, response);
  });
  return router;
}
