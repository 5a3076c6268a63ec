import { closedObject, compileSchema, withoutUndefined } from '@clinical-launch/contracts/schema';
import { optionalText, type Static, Type } from '@clinical-launch/contracts/type';
import type { Ed25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Result, RunReport } from './run.ts';

/*
 * A conformance statement lists the requirements of a run and whether a supplier's product met them. The
 * platform signs it. It follows the Supplier Conformance Assessment List (SCAL) of NHS England, and contains no
 * secrets and no patient data. Verification accepts only EdDSA, so that a public key cannot verify an HMAC
 * (RFC 8725 section 2.1). It accepts only this `typ`, so that no other token is a valid statement (section
 * 3.11).
 */

const type = 'conformance-statement+jwt';

/**
 * The version of the rules by which runs are judged. Statements before version 2 do not name it. Their rules
 * passed `pms.callback-in-time` although no callback was answered.
 */
const rulesVersion = 2;

const statementSchema = closedObject({
  /** The public address of the platform. */
  iss: Type.String(),
  /** Seconds since 1970. */
  iat: Type.Integer(),
  client: Type.String(),
  protocol: Type.Enum(['pms', 'partner']),
  platformVersion: Type.String(),
  rulesVersion: Type.Optional(Type.Integer()),
  run: Type.String(),
  startedAt: Type.String(),
  finishedAt: Type.String(),
  launches: Type.Integer(),
  requirements: Type.Array(
    closedObject({
      id: Type.String(),
      requirement: Type.String(),
      guide: Type.String(),
      conformance: Type.Enum(['met', 'attested', 'not met', 'not seen', 'not attested']),
      /** The fault that the run found, or the person who attested the requirement. */
      evidence: optionalText(),
    }),
  ),
  /** The ids of the requirements that were not judged, because the client has no address for messages. */
  notJudged: Type.Array(Type.String()),
  isConformant: Type.Boolean(),
});

export type Statement = Static<typeof statementSchema>;

const statement = compileSchema(statementSchema);

const conformances: Readonly<Record<Result, Statement['requirements'][number]['conformance']>> = {
  passed: 'met',
  attested: 'attested',
  failed: 'not met',
  waiting: 'not seen',
  unseen: 'not seen',
  unattested: 'not attested',
};

type SigningOptions = {
  readonly key: NonNullable<Ed25519Keys['signing']>;
  /** The public address of the platform. */
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly platformVersion: string;
};

/**
 * Signs the statement of a run, as a compact JWS.
 * @throws TypeError if the run has not finished
 */
export async function signStatement(
  report: RunReport,
  { key, issuer, issuedAt, platformVersion }: SigningOptions,
): Promise<string> {
  const { client, protocol, run, startedAt, finishedAt, launches, notJudged } = report;
  if (finishedAt === undefined) throw new TypeError('Only a finished run can be signed');
  const requirements = report.requirements.map(({ id, title, guide, result, finding }) => ({
    id,
    requirement: title,
    guide,
    conformance: conformances[result],
    ...withoutUndefined({ evidence: finding }),
  }));
  const payload: Statement = {
    iss: issuer,
    iat: Math.floor(issuedAt / 1000),
    client,
    protocol,
    platformVersion,
    rulesVersion,
    run,
    startedAt,
    finishedAt,
    launches: launches.length,
    requirements,
    notJudged: [...notJudged],
    isConformant: requirements.every(({ conformance }) => /^(?:met|attested)$/.test(conformance)),
  };
  return new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: key.kid, typ: type }).sign(key.key);
}

/** Thrown if a text is not a statement, or if none of the keys signed it. The message contains the reason. */
export class StatementRefused extends Error {}

/**
 * Verifies a statement, and returns its content. `issuer` is the expected issuer.
 * @throws StatementRefused
 */
export async function verifyStatement(
  text: string,
  { keys, issuer }: { readonly keys: Pick<Ed25519Keys, 'verification'>; readonly issuer: string },
): Promise<Statement> {
  const getKey = ({ kid = '' }) => {
    const key = keys.verification.get(kid);
    if (key === undefined) throw new StatementRefused('None of the given keys signed the statement');
    return key;
  };
  const options = { algorithms: ['EdDSA'], typ: type, issuer };
  const { payload } = await jwtVerify(text, getKey, options).catch((cause: unknown) => {
    throw cause instanceof StatementRefused ? cause : new StatementRefused(reasonOf(cause), { cause });
  });
  if (!statement.is(payload)) throw new StatementRefused('The signed text is not a conformance statement');
  return payload;
}

function reasonOf(cause: unknown): string {
  if (cause instanceof errors.JOSEAlgNotAllowed) return 'The statement is not signed with EdDSA';
  if (cause instanceof errors.JWSSignatureVerificationFailed)
    return 'The signature is invalid. The statement was changed, or another key signed it';
  if (cause instanceof errors.JWTClaimValidationFailed)
    return cause.claim === 'iss'
      ? 'Another platform issued the statement'
      : 'The signed text is not a conformance statement';
  return 'The text is not a signed statement';
}
