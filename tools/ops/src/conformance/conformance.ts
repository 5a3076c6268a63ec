import type { Statement } from '@clinical-launch/conformance/statement';
import { parseEd25519Keys } from '@clinical-launch/crypto/ed25519-keys';
import {
  type Answers,
  type Argument,
  type Option,
  readText,
  type Setting,
  UsageError,
} from '@clinical-launch/process/command-line';
import type { Environment } from '@clinical-launch/runtime/environment';
import { type Group, requiredOption } from '../command.ts';
import { required } from '../settings.ts';

const signingKey: Setting = {
  name: 'STATEMENT_SIGNING_KEY',
  summary:
    'The key of conformance statements as a JWK; or STATEMENT_SIGNING_KEY_FILE. The public key is enough',
};
const statementFile: Argument = { name: 'file', summary: 'The signed statement' };
const keysFile: Option = {
  name: 'keys',
  value: 'file',
  summary: 'The public keys as a JWK set. Default: STATEMENT_SIGNING_KEY',
  isOptional: true,
};
const issuer: Option = {
  name: 'issuer',
  value: 'address',
  summary: 'The address of the platform that must have signed the statement',
};

/** `./clinical-launch conformance` */
export const conformance: Group = {
  commands: {
    verify: {
      summary: 'Verifies the signature of a statement, and prints each requirement.',
      example: 'statement.jws --issuer https://launch.example',
      details: 'Exits with 1 if the signature is invalid, or if the product does not meet every requirement.',
      arguments: [statementFile],
      options: [keysFile, issuer],
      settings: [signingKey],
      async run({ arguments: [path = ''], options, environment }) {
        const { verifyStatement } = await import('@clinical-launch/conformance/statement');
        const keys = keysFrom(options, environment);
        const text = readText(path).trim();
        const statement = await verifyStatement(text, { keys, issuer: requiredOption(options, issuer) });
        return {
          lines: linesOf(statement),
          result: statement,
          problems: statement.isConformant ? [] : ['The product does not meet every requirement'],
        };
      },
    },
  },
};

function keysFrom(options: Answers, environment: Environment) {
  const [path] = options.get(keysFile.name) ?? [];
  const text = path === undefined ? required(environment, signingKey) : readText(path);
  try {
    return parseEd25519Keys(text);
  } catch (cause) {
    const reason = cause instanceof TypeError ? cause.message : 'is invalid';
    throw new UsageError(`${path ?? signingKey.name} ${reason}`, { cause });
  }
}

const linesOf = (statement: Statement): readonly string[] =>
  [
    `The signature is valid. ${statement.iss} signed the statement at ${new Date(statement.iat * 1000).toISOString()}`,
    `Product ${statement.client} (${statement.protocol}), platform ${statement.platformVersion}, rules ${statement.rulesVersion ?? 1}`,
    `Run ${statement.run} from ${statement.startedAt} to ${statement.finishedAt}, launches: ${statement.launches}`,
    ...statement.requirements.map(
      ({ id, requirement, conformance: result, evidence }) =>
        `${result.padEnd(13)}${id}: ${requirement}${evidence === undefined ? '' : ` (${evidence})`}`,
    ),
    ...statement.notJudged.map(
      (id) => `${'not judged'.padEnd(13)}${id}: the product has no address for messages`,
    ),
    ...(statement.isConformant && statement.notJudged.length > 0
      ? [`conformant without: ${statement.notJudged.join(', ')}`]
      : []),
    // Suppliers write the names in attestations, whose control characters could change the terminal.
  ].map((line) => line.replaceAll(/\p{C}/gu, ' '));
