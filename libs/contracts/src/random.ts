import { randomBytes, randomFillSync } from 'node:crypto';

/** Each draw from the system is a call of it, which costs as much for 4,096 bytes as for 12. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Draws bytes that nobody can guess, from the system's generator (`crypto.randomBytes`), for whatever a request needs
 * several times. The bytes belong to the caller alone: their copy here is erased.
 */
export function drawBytes(size: number): Buffer {
  if (size > pool.length) return randomBytes(size);
  if (used + size > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const drawn = pool.subarray(used, used + size);
  used += size;
  const bytes = Buffer.from(drawn);
  drawn.fill(0);
  return bytes;
}
