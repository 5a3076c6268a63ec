import { type CloudEvent, createEvent } from '@clinical-launch/contracts';
import { callOf, guidForm, pageHeaders } from '@clinical-launch/service';
import type { Tickets } from '@clinical-launch/tickets';
import type { RequestHandler, Response } from 'express';
import { documentNotReady, orderNotFound } from '../errors.ts';
import type { Lookup, OrderDocument } from '../store/documents.ts';
import { notepadPage } from '../views/pages.ts';
import { awaitDocument } from './await-document.ts';
import { getLaunchSession, type LaunchSession } from './launch-session.ts';

export type DocumentNeeds = {
  readonly tickets: Pick<Tickets, 'find'>;
  readonly find: (key: { orderGuid: string; launchId: string }) => Promise<Lookup>;
  /** Resolves when the events are kept. */
  readonly record: (events: readonly CloudEvent[]) => Promise<void>;
  /** How long a reader is kept waiting for a document that is still being made. */
  readonly waitMs: number;
};

/** One way of handing the document out: its word in the audit trail, who may frame it, how it is sent. */
type Form = {
  readonly by: 'notepad' | 'download';
  readonly frameAncestors: (session?: LaunchSession) => readonly string[];
  readonly send: (response: Response, order: { guid: string; xml: string }) => void;
};

const notepad: Form = {
  by: 'notepad',
  // Asked of every frame above: our result page, and the page of the PMS that may frame that one.
  frameAncestors: (session) => ["'self'", ...(session?.client.frameAncestors ?? [])],
  send: (response, { xml }) => void response.type('html').send(notepadPage(xml)),
};

const download: Form = {
  by: 'download',
  frameAncestors: () => [],
  send: (response, { guid, xml }) =>
    void response
      .set({
        'Content-Type': 'application/xml; charset=utf-8',
        'Content-Disposition': `attachment; filename="order-${guid}.xml"`,
      })
      .send(xml),
};

/** `GET /orders/{guid}/notepad`: the page with the TEXTAREA `Output` (OLTR: Returned data). */
export const getNotepad = (needs: DocumentNeeds) => getOrderDocument(notepad, needs);

/** `GET /orders/{guid}.xml`: the document itself. */
export const getDownload = (needs: DocumentNeeds) => getOrderDocument(download, needs);

function getOrderDocument(form: Form, needs: DocumentNeeds): RequestHandler<{ guid: string }> {
  return async (request, response) => {
    const { guid } = request.params;
    response.set(pageHeaders({ frameAncestors: form.frameAncestors() }));
    const session = await getLaunchSession(needs.tickets, request);
    response.set(pageHeaders({ frameAncestors: form.frameAncestors(session) }));
    callOf(response).adopt(session.launchId);
    const document = await findDocument({ guid, session, response, needs });
    if (document === undefined) return;
    // Express answers HEAD with this handler too; it hands nothing out.
    if (request.method === 'GET') await recordReturn({ guid, document, form, response, needs });
    form.send(response, { guid, xml: document.xml });
  };
}

type Reading = { readonly guid: string; readonly response: Response; readonly needs: DocumentNeeds };

/**
 * The document of this launch; nothing when the reader left meanwhile.
 * @throws ServiceError 404 when the order is another launch's, 503 when its document is not there yet.
 */
async function findDocument({
  guid,
  session: { launchId, request },
  response,
  needs,
}: Reading & { session: LaunchSession }): Promise<OrderDocument | undefined> {
  if (!guidForm.test(guid)) throw orderNotFound();
  const reader = new AbortController();
  response.once('close', () => reader.abort());
  // An OrderTest launch makes new orders alone; the other actions may amend what an earlier launch ordered.
  const mayFollowOthers = request.action !== 'OrderTest';
  const lookup = await awaitDocument(() => needs.find({ orderGuid: guid, launchId }), {
    signal: AbortSignal.any([reader.signal, AbortSignal.timeout(needs.waitMs)]),
    mayFollowOthers,
  });
  if (reader.signal.aborted) return undefined;
  if (lookup.outcome === 'found') return lookup.document;
  throw lookup.outcome === 'foreign' && !mayFollowOthers ? orderNotFound() : documentNotReady();
}

/** Leaves the audit event before anything is sent: a document that was read is never missing in the trail. */
function recordReturn({
  guid,
  document: { messageId },
  form: { by },
  response,
  needs,
}: Reading & { document: OrderDocument; form: Form }): Promise<void> {
  const origin = callOf(response).origin('/order-renderer');
  return needs.record([
    createEvent('order.document.returned.v1', origin, { orderGuid: guid, messageId, by }),
  ]);
}
