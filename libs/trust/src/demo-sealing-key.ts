import { createHash } from 'node:crypto';

/** Public, so that the demo's processes and restarts share it; production refuses it. */
export const demoSealingKey = {
  id: 'demo',
  key: createHash('sha256').update('clinical-launch demo sealing key').digest(),
};
