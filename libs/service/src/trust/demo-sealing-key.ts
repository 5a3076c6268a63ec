import { createHash } from 'node:crypto';

/** Known to everybody, so that the demo's processes and restarts understand each other; production refuses it. */
export const demoSealingKey = {
  id: 'demo',
  key: createHash('sha256').update('clinical-launch demo sealing key').digest(),
};
