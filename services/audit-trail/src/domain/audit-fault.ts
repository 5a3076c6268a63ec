/** A difference between the stored log and the log as the audit trail wrote it, with its location. */
export type AuditFault = {
  /**
   * `changed`: the row does not match its hash. `forged`: the seal is invalid, so the row was inserted or
   * rewritten. `removed`: rows are missing, up to and including the row `sequence`. `rewritten`: the row does
   * not match its checkpoint. `dropped`: the partition is missing. `checkpoint-forged`: a checkpoint is not
   * signed or was replaced. `checkpoint-missing`: a checkpoint is missing.
   */
  readonly kind:
    | 'changed'
    | 'forged'
    | 'removed'
    | 'rewritten'
    | 'dropped'
    | 'checkpoint-forged'
    | 'checkpoint-missing';
  readonly partition?: string;
  readonly sequence?: number;
  /** The sequence number of the first of several missing rows. */
  readonly firstSequence?: number;
  readonly id?: string;
  readonly time?: string;
  readonly checkpoint?: number;
};

/**
 * The maximum number of faults that are reported for one partition. After one broken link, many rows may
 * differ.
 */
export const maxFaults = 100;

const words: Readonly<Record<AuditFault['kind'], string>> = {
  changed: 'was changed',
  forged: 'was not written by the audit trail: it was inserted, or changed together with its hash',
  removed: 'is missing',
  rewritten: 'does not match its checkpoint',
  dropped: 'is missing, and no checkpoint records that it was out of retention',
  'checkpoint-forged': 'was not signed by the audit trail, or does not follow the previous checkpoint',
  'checkpoint-missing': 'is missing',
};

/** Describes a fault and its location in one sentence. */
export function sentenceOf({ kind, partition, firstSequence, sequence, ...fault }: AuditFault): string {
  if (partition === undefined)
    return `Checkpoint ${fault.checkpoint ?? `in line ${sequence}`} ${words[kind]}`;
  if (kind === 'dropped') return `Partition ${partition} ${words[kind]}`;
  const isRange = firstSequence !== undefined && firstSequence !== sequence;
  const rows = isRange ? `rows ${firstSequence} to ${sequence}` : `row ${sequence}`;
  const about = [
    fault.id,
    fault.time,
    fault.checkpoint === undefined ? undefined : `checkpoint ${fault.checkpoint}`,
  ];
  const known = about.filter((one) => one !== undefined).join(', ');
  return `Partition ${partition}, ${rows}${known === '' ? '' : ` (${known})`} ${words[kind]}`;
}
