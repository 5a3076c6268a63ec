import { randomBytes, randomFillSync } from 'node:crypto';

/** A pool of random bytes: each system call costs as much for 4,096 bytes as for 12. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/**
 * Draws unpredictable bytes from the system's generator (`crypto.randomBytes`), for values that a request
 * needs several times. Only the caller has the bytes: the copy here is erased.
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
