import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** PostgreSQL's own default. */
const iterations = 4096;

/**
 * Returns a password as PostgreSQL stores it (RFC 5803, SCRAM-SHA-256), so that the password itself appears
 * in no statement and no log of the server. ASCII only: other characters would need SASLprep (RFC 4013).
 * @throws TypeError for a password with other characters
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  if (!/^[\x21-\x7e]+$/.test(password))
    throw new TypeError('A database password must contain only printable ASCII characters');
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const serverKey = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
