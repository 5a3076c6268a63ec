import { randomUUID } from 'node:crypto';
import { type CloudEvent, createEvent, eventConsumers } from '@clinical-launch/contracts/events/cloud-event';
import { type Order, parseOrder } from '@clinical-launch/contracts/order/order';
import { renderOrderDocument } from '@clinical-launch/contracts/order/order-document';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { bindingOfOrder } from '@clinical-launch/crypto/sealing-purposes';
import type { Consumer } from '@clinical-launch/events/event-bus';
import type { Clock } from '@clinical-launch/runtime/clock';
import { currentTraceparent } from '@clinical-launch/runtime/tracing';
import type { OrderRendererConfig } from '../config.ts';
import type { ClientKey } from '../domain/find-callback.ts';
import type { NewDocument } from '../store/documents.ts';

const submitted = 'order.submitted.v1';

type Dependencies = {
  readonly config: OrderRendererConfig;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly isToBeDelivered: (client: ClientKey) => boolean;
  readonly store: (document: NewDocument, events: readonly CloudEvent[]) => Promise<void>;
};

/**
 * Creates the consumer that renders the document of a submitted or amended order. An event that the consumer
 * cannot handle becomes a dead letter.
 */
export function onOrderSubmitted({ config, sealer, clock, isToBeDelivered, store }: Dependencies): Consumer {
  return {
    name: 'order-renderer',
    ...eventConsumers['order-renderer'],
    async handle(event) {
      if (!isSubmitted(event)) return;
      const order = openOrder(sealer, event);
      const messageId = randomUUID();
      const now = new Date(clock.now());
      const traceparent = currentTraceparent() ?? event.traceparent;
      const rendered = createEvent(
        'order.document.rendered.v1',
        { source: '/order-renderer', correlationId: event.correlationid, traceparent, now },
        { ...withoutUndefined({ patient: event.data.patient }), orderGuid: order.guid, messageId },
      );
      const { issuer, clientId, launchId, orderVersion = 1, patient } = event.data;
      const document = {
        orderGuid: order.guid,
        orderVersion,
        messageId,
        event: { id: event.id, time: event.time, traceparent },
        launchId,
        practice: { system: order.practice.identifier.system, code: order.practice.identifier.value },
        xml: renderOrderDocument(order, { ...config, messageId }),
        patient,
        renderedAt: now.toISOString(),
        ...(isToBeDelivered({ issuer, clientId }) ? { deliverTo: { issuer, clientId } } : {}),
      };
      await store(document, [rendered]);
    },
  };
}

function isSubmitted(event: CloudEvent): event is CloudEvent<typeof submitted> {
  return event.type === submitted;
}

/**
 * Opens the sealed order of an event.
 * @throws Error if it was sealed for another order, version, launch or client than the event names
 */
function openOrder(sealer: Sealer, { data }: CloudEvent<typeof submitted>): Order {
  const opened = sealer.open(submitted, data.sealed, bindingOfOrder(data));
  const order = parseOrder(
    typeof opened === 'object' && opened !== null && 'order' in opened ? opened.order : undefined,
  );
  if (order.guid !== data.orderGuid)
    throw new Error('The GUID of the sealed order differs from the GUID in the event');
  return order;
}
