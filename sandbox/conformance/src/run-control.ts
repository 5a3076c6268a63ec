import { type CompiledSchema, closedObject, compileSchema } from '@clinical-launch/contracts/schema';
import { type TProperties, Type } from '@clinical-launch/contracts/type';
import { preferredType, sendJson, sendText } from '@clinical-launch/http/answer';
import { readForm, readJson } from '@clinical-launch/http/body';
import type { Exchange } from '@clinical-launch/http/endpoint';
import { ServiceError } from '@clinical-launch/http/errors';
import { endpointNames, faultNames } from './exchange.ts';
import { junitOf } from './results.ts';
import type { RunReport } from './run.ts';

/** Returns the schema of a request for faults: which fault, of which endpoint, how often, and more members. */
export const wantedFault = <More extends TProperties>(more: More) =>
  compileSchema(
    closedObject({
      fault: Type.Enum([...faultNames]),
      /** The form of the portal sends an empty text if the fault applies to every endpoint. */
      endpoint: Type.Optional(Type.Enum([...endpointNames, ''])),
      times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      ...more,
    }),
  );

/** The changes of a run: to repeat a step, to skip a step, and to finish the run. */
export const wantedChange = compileSchema(closedObject({ do: Type.Enum(['repeat', 'skip', 'finish']) }));

/**
 * Answers with the report of a run: a page, which browsers reload while the run is running, JSON, or JUnit
 * XML.
 * @param show answers with the page
 */
export function sendReport(
  { request, response }: Exchange,
  report: RunReport,
  { refreshSeconds, show }: { readonly refreshSeconds: number; readonly show: () => void },
): void {
  const type = preferredType(request, ['application/json', 'text/html', 'application/xml']);
  if (type === 'application/xml') return sendText(response, 'application/xml', junitOf(report));
  if (type !== 'text/html') return sendJson(response, report);
  if (report.state === 'running') response.setHeader('Refresh', String(refreshSeconds));
  show();
}

const limitBytes = 64 * 1024;

/**
 * Reads the members of a JSON body or, unless only JSON is accepted, the fields of a form.
 * @throws ServiceError 400 that lists every fault, 413 or 415
 */
export async function readMembers<Members>(
  exchange: Exchange,
  schema: CompiledSchema<Members>,
  { isJsonOnly = false } = {},
): Promise<Members> {
  const isJson = exchange.request.headers['content-type']?.startsWith('application/json') === true;
  const body =
    isJson || isJsonOnly
      ? await readJson(exchange, { types: ['application/json'], limitBytes })
      : Object.fromEntries(await readForm(exchange, limitBytes));
  if (schema.is(body)) return body;
  throw new ServiceError({
    code: 'invalid_request',
    message: 'The request is invalid. Correct the fields listed in `errors` and send it again',
    faults: schema.faultsOf(body),
  });
}
