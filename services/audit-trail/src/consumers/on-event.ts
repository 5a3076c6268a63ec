import { type CloudEvent, eventConsumers } from '@clinical-launch/contracts';
import type { BatchConsumer } from '@clinical-launch/events';
import type { AuditStore } from '../store/audit-store.ts';

/** Stores every event of the platform, without fields that are sealed for another consumer. */
export function onEvent(store: AuditStore): BatchConsumer {
  return {
    name: 'audit-trail',
    ...eventConsumers['audit-trail'],
    handleAll: (events) => store.keep(events.map(withoutSealed)),
  };
}

function withoutSealed(event: CloudEvent): CloudEvent {
  const { sealed: _sealed, ...data } = { sealed: undefined, ...event.data };
  return { ...event, data: data as CloudEvent['data'] };
}
