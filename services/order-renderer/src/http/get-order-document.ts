import type { ServerResponse } from 'node:http';
import { withEarlierCodes } from '@clinical-launch/contracts/earlier-codes';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { guidForm, withoutUndefined } from '@clinical-launch/contracts/schema';
import { redirect, sendText, setHeaders } from '@clinical-launch/http/answer';
import { type Exchange, type Handler, textParameter } from '@clinical-launch/http/endpoint';
import { queryOf } from '@clinical-launch/http/request-target';
import { findLaunchSessions, readLaunchSessionCookies } from '@clinical-launch/pages/launch-session';
import { pageHeaders } from '@clinical-launch/pages/page-headers';
import { pause } from '@clinical-launch/runtime/clock';
import { launchOf } from '@clinical-launch/tickets/ticket-format';
import type { Tickets } from '@clinical-launch/tickets/tickets';
import type { RegistrySource } from '@clinical-launch/trust/registry-file';
import { documentNotReady, orderNotFound, sessionRequired } from '../errors.ts';
import type { DocumentKey, OrderDocument } from '../store/documents.ts';
import { notepadPage } from '../views/pages.ts';

export type DocumentDependencies = {
  readonly tickets: Pick<Tickets, 'find'>;
  /** The registry, with the earlier codes of the practices. */
  readonly registry: RegistrySource;
  /** Whether the platform is served over https. */
  readonly isSecure: boolean;
  /** The hashes of the inline scripts of the error page. */
  readonly scriptHashes: readonly string[];
  readonly find: (key: DocumentKey) => Promise<OrderDocument | undefined>;
  readonly findOthers: (key: DocumentKey) => Promise<readonly OrderDocument[]>;
  readonly record: (events: readonly CloudEvent[]) => Promise<void>;
  /** The milliseconds for which a request waits for a document in preparation. */
  readonly waitMs: number;
};

/** A way to return the document: its name in the audit trail, its frame ancestors, and its format. */
type Representation = {
  readonly by: 'notepad' | 'download';
  readonly frameAncestors: (session?: LaunchContext) => readonly string[];
  /** Whether the answer includes the other orders of the launch. */
  readonly hasOthers: boolean;
  readonly isOutsideCookiePath?: true;
  readonly send: (
    response: ServerResponse,
    document: OrderDocument,
    others: readonly OrderDocument[],
  ) => void;
};

const notepad: Representation = {
  by: 'notepad',
  // Browsers check every ancestor frame: the platform's result page, and the practice
  // system's page around it.
  frameAncestors: (session) => ["'self'", ...(session?.client.frameAncestors ?? [])],
  hasOthers: true,
  send: (response, document, others) => sendText(response, 'text/html', notepadPage(document, others)),
};

const download: Representation = {
  by: 'download',
  frameAncestors: () => [],
  hasOthers: false,
  send(response, { orderGuid, xml }) {
    response.setHeader('Content-Disposition', `attachment; filename="order-${orderGuid}.xml"`);
    sendText(response, 'application/xml', xml);
  },
};

/** Returns the page with the TEXTAREA `Output` (OLTR: Returned data): `GET /orders/{guid}/notepad`. */
export const getNotepad = (dependencies: DocumentDependencies) => getOrderDocument(notepad, dependencies);

/** Returns the document itself: `GET /orders/{guid}/document.xml`. */
export const getDownload = (dependencies: DocumentDependencies) => getOrderDocument(download, dependencies);

/**
 * Returns the document itself: `GET /orders/{guid}.xml`. Redirects a request without a session to
 * `/orders/{guid}/document.xml`: browsers send the session cookie only below `/orders/{guid}`, and a second
 * cookie for each order would take the place of other applications' cookies.
 */
export const getOldDownload = (dependencies: DocumentDependencies) =>
  getOrderDocument({ ...download, isOutsideCookiePath: true }, dependencies);

function getOrderDocument(representation: Representation, dependencies: DocumentDependencies): Handler {
  return async (exchange) => {
    const { request, response, call } = exchange;
    const guid = textParameter(exchange, 'guid');
    const { scriptHashes, registry } = dependencies;
    setHeaders(response, pageHeaders({ frameAncestors: representation.frameAncestors(), scriptHashes }));
    const mayRead = async (session: LaunchContext) =>
      guidForm.test(guid) &&
      (await dependencies.find({ orderGuid: guid, ...ownDocuments(session, registry) })) !== undefined;
    const session = await getLaunchSession(dependencies, exchange, mayRead);
    if (session === undefined) {
      if (!representation.isOutsideCookiePath || !guidForm.test(guid)) throw sessionRequired();
      const query = queryOf(request).toString();
      return redirect(response, `/orders/${guid}/document.xml${query && `?${query}`}`, 307);
    }
    setHeaders(
      response,
      pageHeaders({ frameAncestors: representation.frameAncestors(session), scriptHashes }),
    );
    call.adopt(session.launchId);
    call.identify(`session ${session.launchId}`, session.client.clientId);
    const key = { orderGuid: guid, ...ownDocuments(session, registry), ...versionAskedFor(request) };
    const finding = findDocument(key, response, dependencies);
    const document = await (call.place?.yieldWhile(finding) ?? finding);
    if (document === undefined) return;
    const others = representation.hasOthers ? await dependencies.findOthers(key) : [];
    // A HEAD request returns no document. Stores the events before the answer is sent, so that the audit trail
    // contains every returned document.
    if (request.method === 'GET') {
      const returned = [document, ...others].map(({ orderGuid, messageId, patient }) => {
        const about = { ...withoutUndefined({ patient }), orderGuid, messageId, by: representation.by };
        return call.event('order.document.returned.v1', about);
      });
      await dependencies.record(returned);
    }
    representation.send(response, document, others);
  };
}

/**
 * Returns the filter for the documents that a session may read: documents of its launch, for the practices of
 * its client and for their earlier codes.
 */
function ownDocuments(session: LaunchContext, registry: RegistrySource) {
  const { launchId, client } = withEarlierCodes(session, registry.current());
  const { practices } = client;
  return { launchId, ...withoutUndefined({ practices }) };
}

/**
 * Reads `?version=`, the lowest acceptable version of the order.
 * @throws ServiceError 404 for an invalid version, as for a malformed GUID
 */
function versionAskedFor(request: Exchange['request']): { leastVersion?: number } {
  const [version, ...more] = queryOf(request).getAll('version');
  if (version === undefined) return {};
  if (more.length > 0 || !/^[1-9]\d{0,8}$/.test(version)) throw orderNotFound();
  return { leastVersion: Number(version) };
}

/**
 * Returns the document of this launch. Returns undefined if the reader has disconnected. An order of another
 * launch and an order that does not exist have the same answer after the same wait. The answer therefore does
 * not reveal which orders exist.
 * @throws ServiceError 404 for a malformed GUID, 503 if this launch has no document of the order yet
 */
async function findDocument(
  key: DocumentKey,
  response: ServerResponse,
  { find, waitMs }: DocumentDependencies,
): Promise<OrderDocument | undefined> {
  if (!guidForm.test(key.orderGuid)) throw orderNotFound();
  const reader = new AbortController();
  response.once('close', () => reader.abort());
  const end = AbortSignal.any([reader.signal, AbortSignal.timeout(waitMs)]);
  const document = await awaitDocument(() => find(key), end);
  if (reader.signal.aborted) return undefined;
  if (document === undefined) throw documentNotReady();
  return document;
}

/**
 * The first interval is short, because most documents are created quickly. The intervals grow, so that a long
 * wait needs few queries.
 */
const firstIntervalMs = 50;
const growth = 3;

/**
 * Queries for a document until it exists. When the signal aborts, queries a last time. A wait of ten seconds
 * takes seven queries.
 */
export async function awaitDocument<Document>(
  look: () => Promise<Document | undefined>,
  signal: AbortSignal,
): Promise<Document | undefined> {
  for (let intervalMs = firstIntervalMs; ; intervalMs *= growth) {
    const isLastLook = signal.aborted;
    const document = await look();
    if (document !== undefined || isLastLook) return document;
    await pause(intervalMs, signal);
  }
}

/**
 * Returns the launch session of a request, or undefined without a valid session. Reading a document does not
 * extend the session, because a page that refreshes automatically must not keep a session alive.
 * @param mayRead called only if the browser sent several valid sessions
 */
async function getLaunchSession(
  { tickets, isSecure }: Pick<DocumentDependencies, 'tickets' | 'isSecure'>,
  { request, call }: Exchange,
  mayRead: (session: LaunchContext) => Promise<boolean>,
): Promise<LaunchContext | undefined> {
  const [sent] = readLaunchSessionCookies(request, isSecure);
  if (sent !== undefined) call.trace.follow(launchOf(sent));
  const [first, ...others] = await findLaunchSessions(tickets, request, { isSecure });
  if (first === undefined || others.length === 0) return first?.context;
  for (const { context } of [first, ...others]) if (await mayRead(context)) return context;
  return first.context;
}
