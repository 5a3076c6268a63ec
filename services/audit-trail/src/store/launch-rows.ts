import type { LaunchColumns } from '../domain/audit-row.ts';
import type { AuditTables } from './tables.ts';

export type StoredLaunch = LaunchColumns;

type LaunchRow = Pick<
  AuditTables['audit_event'],
  'issuer' | 'client_id' | 'user_name' | 'user_display' | 'practice' | 'practice_name' | 'patient' | 'action'
>;

/** Returns what a stored row says about its launch. */
export const launchColumnsOfRow = (row: LaunchRow): LaunchColumns => ({
  issuer: row.issuer,
  clientId: row.client_id,
  userName: row.user_name,
  userDisplay: row.user_display,
  practice: row.practice,
  practiceName: row.practice_name,
  patient: row.patient,
  action: row.action,
});
