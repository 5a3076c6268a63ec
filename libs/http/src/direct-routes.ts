import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Call } from './call.ts';

/** Answers a request by Node's own means, also if it is refused. */
export type DirectAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  call: Call,
  params: Readonly<Record<string, string[]>>,
) => Promise<void>;

/**
 * A route of the launch path, which is found by its method and its exact path, before Express searches for a
 * route.
 */
export type DirectRoute = {
  readonly method: 'GET' | 'POST';
  /**
   * As the caller writes it. It may begin with the parameter `/*realm`, which then is one segment; Express
   * answers longer and encoded ones.
   */
  readonly path: string;
  readonly answer: DirectAnswer;
};

type Direct = {
  readonly routes: readonly DirectRoute[];
  /** Prepares every request, and returns its context. */
  readonly open: (request: IncomingMessage, response: ServerResponse) => Call;
  /** Answers everything else. */
  readonly others: RequestListener;
};

/** The parameter that a path may begin with. */
const parameter = '/*realm';

/**
 * Answers the direct routes on Node's own request and response, without Express's search for a route, which
 * takes a tenth of a launch, and everything else through Express.
 */
export function withDirectRoutes({ routes, open, others }: Direct): RequestListener {
  const byAddress = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));

  const find = (method: string, path: string) => {
    const exact = byAddress.get(`${method} ${path}`);
    if (exact !== undefined) return { route: exact, params: {} };
    const end = path.indexOf('/', 1);
    const route = end < 0 ? undefined : byAddress.get(`${method} ${parameter}${path.slice(end)}`);
    const segment = path.slice(1, end);
    return route !== undefined && /^[\w-]+$/.test(segment)
      ? { route, params: { realm: [segment] } }
      : undefined;
  };

  return (request, response) => {
    const { method = '', url = '' } = request;
    const mark = url.indexOf('?');
    const found = find(method, mark < 0 ? url : url.slice(0, mark));
    if (found === undefined) return others(request, response);
    const call = open(request, response);
    const { route, params } = found;
    call.route = route.path;
    call.trace.run(() => route.answer(request, response, call, params)).catch(() => response.destroy());
  };
}
