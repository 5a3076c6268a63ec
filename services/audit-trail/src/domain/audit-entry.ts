import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { AuditOutcome } from './audit-row.ts';

/** A row of the log, completed with details of its launch. */
export type AuditEntry = {
  /** The sequence number of the row. The numbers start at 1 in each month. */
  readonly sequence: string;
  readonly id: string;
  readonly time: Date;
  readonly correlationId: string;
  readonly launchId: string | null;
  readonly traceId: string;
  readonly source: string;
  readonly type: string;
  readonly outcome: AuditOutcome;
  readonly reason: string | null;
  readonly status: number | null;
  readonly issuer: string | null;
  readonly client: string | null;
  readonly user: string | null;
  readonly userDisplay: string | null;
  readonly practice: string | null;
  readonly practiceName: string | null;
  readonly patient: string | null;
  readonly address: string | null;
  readonly action: string | null;
  readonly orderGuid: string | null;
  readonly orderReferences: readonly string[] | null;
  readonly event: CloudEvent;
};
