/** Something that is not as it was written, and its place. */
export type AuditFault = {
  /**
   * `changed`: the row differs from its hash. `forged`: the audit trail did not write the row with this hash:
   * it was inserted or rewritten. `removed`: rows are missing, up to and including this one. `rewritten`: the
   * row is not that of a checkpoint. `dropped`: the partition is missing. `checkpoint-forged` and
   * `checkpoint-missing` are about checkpoints.
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
  /** The first of several missing rows. */
  readonly firstSequence?: number;
  readonly id?: string;
  readonly time?: string;
  /** The number of the checkpoint. */
  readonly checkpoint?: number;
};

/** Faults that are reported of one partition: after a removed row, all others may differ. */
export const maxFaults = 100;

const words: Readonly<Record<AuditFault['kind'], string>> = {
  changed: 'was changed',
  forged: 'was not written by the audit trail: it was inserted, or changed with its hash',
  removed: 'is missing',
  rewritten: 'is not the row that the checkpoint signed',
  dropped: 'is missing as a whole, without a checkpoint that says why',
  'checkpoint-forged': 'was not signed by the audit trail, or does not follow the one before it',
  'checkpoint-missing': 'is missing',
};

/** Returns a fault as a sentence with its place. */
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
