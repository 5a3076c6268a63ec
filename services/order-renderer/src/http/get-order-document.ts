import type { CloudEvent, LaunchContext } from '@clinical-launch/contracts';
import { type Call, type Exchange, guidForm, type Handler, queryOf } from '@clinical-launch/service/http';
import { pageHeaders } from '@clinical-launch/service/pages';
import type { Tickets } from '@clinical-launch/tickets';
import type { Response } from 'express';
import { documentNotReady, orderNotFound } from '../errors.ts';
import type { DocumentKey, OrderDocument } from '../store/documents.ts';
import { notepadPage } from '../views/pages.ts';
import { awaitDocument } from './await-document.ts';
import { getLaunchSession } from './launch-session.ts';

export type DocumentNeeds = {
  readonly tickets: Pick<Tickets, 'find'>;
  /** Whether the platform is served by https. */
  readonly isSecure: boolean;
  readonly find: (key: DocumentKey) => Promise<OrderDocument | undefined>;
  readonly findOthers: (key: DocumentKey) => Promise<readonly OrderDocument[]>;
  /** Resolves when the events are kept. */
  readonly record: (events: readonly CloudEvent[]) => Promise<void>;
  /** How long a reader is kept waiting for a document that is still being made. */
  readonly waitMs: number;
};

/** A request for the document of an order. */
type OrderExchange = Exchange<object, { readonly guid: string }>;

/** One way of handing the document out: its word in the audit trail, who may frame it, how it is sent. */
type Form = {
  readonly by: 'notepad' | 'download';
  readonly frameAncestors: (session?: LaunchContext) => readonly string[];
  /** Whether the other orders of the launch come with it. */
  readonly hasOthers: boolean;
  readonly send: (response: Response, document: OrderDocument, others: readonly OrderDocument[]) => void;
};

const notepad: Form = {
  by: 'notepad',
  // Asked of every frame above: our result page, and the page of the PMS that may frame that one.
  frameAncestors: (session) => ["'self'", ...(session?.client.frameAncestors ?? [])],
  hasOthers: true,
  send: (response, document, others) => void response.type('html').send(notepadPage(document, others)),
};

const download: Form = {
  by: 'download',
  frameAncestors: () => [],
  hasOthers: false,
  send: (response, { orderGuid, xml }) =>
    void response
      .set({
        'Content-Type': 'application/xml; charset=utf-8',
        'Content-Disposition': `attachment; filename="order-${orderGuid}.xml"`,
      })
      .send(xml),
};

/** `GET /orders/{guid}/notepad`: the page with the TEXTAREA `Output` (OLTR: Returned data). */
export const getNotepad = (needs: DocumentNeeds) => getOrderDocument(notepad, needs);

/** `GET /orders/{guid}.xml`: the document itself. */
export const getDownload = (needs: DocumentNeeds) => getOrderDocument(download, needs);

function getOrderDocument(form: Form, needs: DocumentNeeds): Handler<OrderExchange> {
  return async ({ request, response, call }) => {
    const { guid } = request.params;
    response.set(pageHeaders({ frameAncestors: form.frameAncestors() }));
    const mayRead = async (session: LaunchContext) =>
      guidForm.test(guid) && (await needs.find({ orderGuid: guid, ...ownDocuments(session) })) !== undefined;
    const session = await getLaunchSession({ ...needs, mayRead }, request);
    response.set(pageHeaders({ frameAncestors: form.frameAncestors(session) }));
    call.adopt(session.launchId);
    call.identify(`session ${session.launchId}`);
    const key = { orderGuid: guid, ...ownDocuments(session), ...versionAskedFor(request) };
    const document = await findDocument({ key, response, needs });
    if (document === undefined) return;
    const others = form.hasOthers ? await needs.findOthers(key) : [];
    // Express answers HEAD with this handler too; it hands nothing out.
    if (request.method === 'GET') await recordReturn({ documents: [document, ...others], form, call, needs });
    form.send(response, document, others);
  };
}

/** Which documents a session may read: those of its launch, of the practices that its client is bound to. */
function ownDocuments({ launchId, client: { practices } }: LaunchContext) {
  return { launchId, ...(practices === undefined ? {} : { practices }) };
}

/**
 * What `?version=` asks for: a document that shows at least this version of the order.
 * @throws ServiceError 404 when it is no version: like a GUID that is none, it names nothing that there is
 */
function versionAskedFor(request: OrderExchange['request']): { leastVersion?: number } {
  const [version, ...more] = queryOf(request).getAll('version');
  if (version === undefined) return {};
  if (more.length > 0 || !/^[1-9]\d{0,8}$/.test(version)) throw orderNotFound();
  return { leastVersion: Number(version) };
}

type Reading = {
  readonly key: DocumentKey;
  readonly response: Response;
  readonly needs: DocumentNeeds;
};

/**
 * Returns the document of this launch; undefined if the reader has left. An order of another launch and one that does
 * not exist are answered alike, after the same wait, so that nobody learns which orders exist.
 * @throws ServiceError 404 for a GUID that is none, 503 when this launch has no document of the order (yet).
 */
async function findDocument({ key, response, needs }: Reading): Promise<OrderDocument | undefined> {
  if (!guidForm.test(key.orderGuid)) throw orderNotFound();
  const reader = new AbortController();
  response.once('close', () => reader.abort());
  const end = AbortSignal.any([reader.signal, AbortSignal.timeout(needs.waitMs)]);
  const document = await awaitDocument(() => needs.find(key), end);
  if (reader.signal.aborted) return undefined;
  if (document === undefined) throw documentNotReady();
  return document;
}

type Returning = {
  readonly documents: readonly OrderDocument[];
  readonly form: Form;
  readonly call: Call;
  readonly needs: DocumentNeeds;
};

/** Leaves the audit events before anything is sent: a document that was read is never missing in the trail. */
function recordReturn({ documents, form: { by }, call, needs }: Returning): Promise<void> {
  return needs.record(
    documents.map(({ orderGuid, messageId }) =>
      call.event('order.document.returned.v1', { orderGuid, messageId, by }),
    ),
  );
}
