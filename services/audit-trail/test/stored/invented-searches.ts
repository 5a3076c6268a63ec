import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { AuditCriteria } from '../../src/store/search-conditions.ts';
import type { AuditDatabase } from '../../src/store/tables.ts';

const md5 = (text: string) =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** Returns the usual searches of a support desk and a privacy officer, and rare combinations. */
export async function searchesOf(
  database: AuditDatabase,
): Promise<readonly (readonly [string, AuditCriteria])[]> {
  const { rows } =
    await sql<Sample>`select extract(epoch from time) * 1000 as at, user_name as user, practice, patient, event
    from audit_trail.audit_event where type = 'order.submitted.v1' and practice <> 'B00001'
    order by time desc limit 1 offset 2000`.execute(database);
  const [sample] = rows;
  if (sample === undefined) throw new Error('There are no rows');
  const from = new Date(Number(sample.at) - 600_000);
  const to = new Date(Number(sample.at) + 600_000);
  const { user, practice, patient } = sample;
  const large = 'B00001';
  return [
    ['GUID of a launch', { correlationId: md5('launch5000') }],
    ['user', { user }],
    ['practice', { practice }],
    ['large practice', { practice: large }],
    ['patient', { patient }],
    ['client with two thirds of the launches', { client: 'pms-1' }],
    ['order reference', { orderReference: 'LAB10000' }],
    ['order', { orderGuid: md5('order5000') }],
    ["caller's identifier", { identifier: 'caller 5000' }],
    ["caller's identifier and client", { identifier: 'caller 5000', client: 'pms-1' }],
    ['action', { action: 'UpdateTest' }],
    ['outcome refused', { outcomes: ['refused'] }],
    ['outcome failed', { outcomes: ['failed'] }],
    ['reason', { reason: 'reason_3' }],
    ['rare reason', { reason: 'reason_19' }],
    ['type', { types: ['launch.url.refused.v1'] }],
    ['time', { from, to }],
    ['practice, user and time', { practice, user, from, to }],
    ['practice and time', { practice, from, to }],
    ['practice and refused', { practice, outcomes: ['refused'] }],
    ['large practice and patient', { practice: large, patient }],
    ['large practice and rare reason', { practice: large, reason: 'reason_19' }],
    ['large practice and failed', { practice: large, outcomes: ['failed'] }],
    [
      'large practice, action and type',
      { practice: large, action: 'PatientReport', types: ['launch.url.refused.v1'] },
    ],
    ['client and action', { client: 'pms-4', action: 'LocationSampleQueue' }],
    ['client and an action it never uses', { client: 'pms-1', action: 'LocationReportList' }],
    ['client and rare reason', { client: 'pms-4', reason: 'reason_19' }],
    ['client and a type it never causes', { client: 'pms-3', types: ['launch.token.refused.v1'] }],
    ['type and outcome that never occur together', { types: ['order.viewed.v1'], outcomes: ['failed'] }],
    [
      'client, action, type and failed',
      { client: 'pms-2', action: 'PatientReport', types: ['launch.url.refused.v1'], outcomes: ['failed'] },
    ],
    ['large practice and a type it never causes', { practice: large, types: ['audit.searched.v1'] }],
    ['address and time', { address: '192.0.2.17', from, to }],
    ['address', { address: '192.0.2.17' }],
    ['address that never occurs', { address: '198.51.100.1' }],
    ['user who does not exist', { user: 'nobody' }],
    [
      'all criteria of a launch',
      { user, practice, patient, outcomes: ['success'], types: ['order.submitted.v1'], from, to },
    ],
  ];
}

type Sample = {
  readonly at: string;
  readonly user: string;
  readonly practice: string;
  readonly patient: string;
};
