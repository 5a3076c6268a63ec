import type { RecordedExchange } from '@clinical-launch/conformance/recorder';
import { readForm } from '@clinical-launch/http/body';
import { type Endpoint, type Exchange, type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { shownOrder } from '../pms/shown-order.ts';
import { badRequest } from '../records.ts';
import { shownRecords, timeOfDay } from '../shown-patient.ts';
import { type Simulation, simulated } from '../simulator.ts';
import type { VisitedLaunch } from './visits.ts';

const application = { name: 'Clinical Launch', home: '/' };

/**
 * Creates the pages that show the requests of a launch of this browser, and that repeat them or send them
 * with a mistake. A request that is scheduled for a later time is sent by the first page view after that time.
 * The page refreshes itself without JavaScript.
 */
export function wirePages({ config, visits, recorder, clock, show, sendTo }: Simulation): Endpoint[] {
  const getLaunch = (exchange: Exchange): VisitedLaunch => {
    const id = textParameter(exchange, 'id');
    const launch = visits.launchesOf(exchange).find((one) => one.id === id);
    if (launch === undefined)
      throw new ServiceError({ code: 'not_found', message: 'This browser has no such launch' });
    return launch;
  };

  const showNewest: Handler = (exchange) => {
    const [newest] = visits.launchesOf(exchange);
    if (newest !== undefined) return sendTo(exchange.response, `/demo/wire/${newest.id}`);
    show(exchange.response, 'wire/views/none.njk', { application, records: shownRecords });
  };

  const showLaunch: Handler = async (exchange) => {
    const { response } = exchange;
    const launch = getLaunch(exchange);
    await Promise.all([...launch.attempted.values()].map(sendIfDue));
    const attempts = [...launch.attempts].map(([name, { label, explanation }]) => {
      const { exchanges = [], pending } = launch.attempted.get(name) ?? {};
      const sentAt = pending && timeOfDay(pending.dueAt);
      return { name, label, explanation, exchanges: exchanges.map(shownExchange), sentAt };
    });
    const dueAt = Math.min(...[...launch.attempted.values()].flatMap(({ pending }) => pending?.dueAt ?? []));
    if (Number.isFinite(dueAt))
      response.setHeader('Refresh', String(Math.ceil((dueAt - clock.now()) / 1000)));
    show(response, 'wire/views/launch.njk', {
      application,
      publicUrl: config.publicUrl,
      launch: { ...launch, at: timeOfDay(launch.startedAt) },
      exchanges: launch.exchanges.map(shownExchange),
      attempts,
      orders: launch.documents().map(shownOrder),
      others: visits
        .launchesOf(exchange)
        .filter(({ id }) => id !== launch.id)
        .map(({ id, kind, startedAt }) => ({ id, kind, at: timeOfDay(startedAt) })),
    });
  };

  /** Removes the pending request before sending it, so that two simultaneous page views send it only once. */
  const sendIfDue = async (attempted: Parameters<VisitedLaunch['attempted']['set']>[1]) => {
    const { pending, exchanges } = attempted;
    if (pending === undefined || pending.dueAt > clock.now()) return;
    delete attempted.pending;
    await recorder.into(exchanges, pending.send);
  };

  const attempt: Handler = async (exchange) => {
    const { response } = exchange;
    const launch = getLaunch(exchange);
    const name = (await readForm(exchange)).get('attempt') ?? '';
    const chosen = launch.attempts.get(name);
    if (chosen === undefined) throw badRequest('Attempt not found');
    const exchanges: RecordedExchange[] = [];
    const later = await recorder.into(exchanges, chosen.send);
    const pending = later && { ...later, dueAt: clock.now() + later.afterSeconds * 1000 };
    launch.attempted.set(name, { exchanges, ...(pending && { pending }) });
    sendTo(response, `/demo/wire/${launch.id}#${name}`);
  };

  return [
    simulated('/demo/wire', { GET: showNewest }),
    simulated('/demo/wire/:id', { GET: showLaunch, POST: attempt }),
  ];
}

const shownExchange = (exchange: RecordedExchange) => ({ ...exchange, at: timeOfDay(exchange.at) });
