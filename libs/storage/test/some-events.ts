import { type CloudEvent, createEvent } from '@clinical-launch/contracts/events/cloud-event';
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const guid = 'd3b07384-d9a0-4c9b-8f2e-000000000001';

/** Returns distinct events with non-ASCII characters, which the outbox must preserve. */
export const someEvents = (count: number): CloudEvent[] =>
  Array.from({ length: count }, (_, index) =>
    createEvent(
      'access.token.issued.v1',
      {
        source: '/test',
        correlationId: guid,
        traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
        now: new Date(0),
      },
      {
        realm: 'demo',
        clientId: 'pms',
        tokenId: `Zoë Ó’Brien \u{20bb7} ${index}`,
        scope: '',
        expiresInSeconds: index,
      },
    ),
  );

/** Returns a migration that creates the outbox of the services (`001-release-1.sql`). */
export const outboxMigration = (schema: string): Migration => ({
  async up(db) {
    await sql`create table ${sql.id(schema)}.outbox (
      id bigint generated always as identity primary key,
      event jsonb not null,
      created_at timestamptz not null default clock_timestamp(),
      rejected_at timestamptz
    )`.execute(db);
  },
});
