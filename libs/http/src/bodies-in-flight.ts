import type { ServerResponse } from 'node:http';

/** The maximum number of bytes that a process holds in bodies whose requests are not answered yet. */
const maxBytes = 64 * 1024 * 1024;
/** A quarter, so that one client or network leaves room for the others. */
const maxBytesOfCaller = maxBytes / 4;

/** The memory that a piece of a body uses in addition to its bytes. A body can arrive in pieces of one byte. */
const pieceBytes = 256;

let heldBytes = 0;
const heldBytesOf = new Map<string, number>();

/**
 * Counts the body of a request from its first byte until the request is answered or its connection is lost.
 * @param caller the verified client, or the network of an unknown caller
 * @returns a function that counts the bytes of one piece. It returns false, and counts nothing, if the bodies
 *   of the process would exceed 64 MiB, or those of the caller a quarter of it
 */
export function createHold(caller: string, response: ServerResponse): (bytes: number) => boolean {
  let held = 0;
  const add = (bytes: number) => {
    held += bytes;
    heldBytes += bytes;
    const ofCaller = (heldBytesOf.get(caller) ?? 0) + bytes;
    if (ofCaller === 0) heldBytesOf.delete(caller);
    else heldBytesOf.set(caller, ofCaller);
  };
  response.once('close', () => add(-held));
  return (bytes) => {
    const more = bytes + pieceBytes;
    const ofCaller = heldBytesOf.get(caller) ?? 0;
    if (response.closed || heldBytes + more > maxBytes || ofCaller + more > maxBytesOfCaller) return false;
    add(more);
    return true;
  };
}
