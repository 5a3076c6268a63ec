import { callbackAddressFault, compileSchema, partnerAddressFault, words } from '@clinical-launch/contracts';
import type { TSchema } from 'typebox';

/** One thing that a command has to know: an option of the command line, or a question on a terminal. */
export type Question = {
  /** `client-id` is given as `--client-id`. */
  readonly option: string;
  readonly ask: string;
  readonly isOptional?: boolean;
  /** An option that a person is not asked for on a terminal. */
  readonly isUnasked?: boolean;
  /** Given several times, or separated by spaces on a terminal. */
  readonly isRepeatable?: boolean;
  /** What is wrong with an answer. */
  readonly faultOf?: (answer: string) => string | undefined;
};

const mustMatch = (form: RegExp, fault: string) => (answer: string) =>
  form.test(answer) ? undefined : fault;
/** Judges an answer as the registry does. */
function asWord(schema: TSchema): (answer: string) => string | undefined {
  const compiled = compileSchema(schema);
  return (answer) => compiled.faultsOf(answer)[0]?.message;
}

const origin = asWord(words.origin);
const word = asWord(words.scopeToken);

const practices = mustMatch(
  /^(any|(ods|local):\S{1,1024})$/,
  'must be any, or a code as ods:B82017 or local:0042',
);

const all = {
  realm: {
    option: 'realm',
    ask: 'Realm, one or two path segments',
    faultOf: asWord(words.realmName),
  },
  desktopRealm: {
    option: 'realm',
    ask: 'Realm, two path segments',
    faultOf: mustMatch(
      /^[a-z0-9-]+\/[a-z0-9-]+$/,
      'must be two segments of a-z, 0-9 and -, as north/desktop',
    ),
  },
  /** Where a client is registered: with us, or with an identity provider that we trust. */
  owner: {
    option: 'realm',
    ask: 'Realm, or the issuer of a trusted identity provider',
    faultOf: mustMatch(
      /^([a-z0-9-]+(\/[a-z0-9-]+)?|https?:\/\/\S+)$/,
      'must be one or two segments of a-z, 0-9 and -, or the URL of an issuer',
    ),
  },
  clientId: {
    option: 'client-id',
    ask: 'Client id: 1 to 200 letters, digits, . _ ~ or -',
    faultOf: asWord(words.clientId),
  },
  name: { option: 'name', ask: 'Name, for people' },
  requestsPerSecond: {
    option: 'requests-per-second',
    ask: 'Limit of requests per second',
    isOptional: true,
    faultOf: mustMatch(/^[1-9]\d{0,5}$/, 'must be a whole number above zero'),
  },
  frameAncestors: {
    option: 'frame-ancestor',
    ask: 'Origins whose pages may frame the launched application',
    isOptional: true,
    isRepeatable: true,
    faultOf: origin,
  },
  resultOrigin: {
    option: 'result-origin',
    ask: 'Origin that is offered the order document',
    isOptional: true,
    faultOf: origin,
  },
  jwks: {
    option: 'jwks',
    ask: 'File with the public keys of the client, in place of a secret (JWK Set)',
    isOptional: true,
    isUnasked: true,
  },
  jwksUri: {
    option: 'jwks-uri',
    ask: 'Address where the client publishes its keys, in place of a secret',
    isOptional: true,
    isUnasked: true,
    faultOf: mustMatch(/^https:\/\/[^/?#@\s]+([/?][!"$-~]*)?$/, 'must be an https address'),
  },
  practices: {
    option: 'practices',
    ask: 'Practices that it may launch for: any, or codes as ods:B82017 local:0042 (production requires it)',
    isOptional: true,
    isRepeatable: true,
    faultOf: practices,
  },
  boundPractices: {
    option: 'practices',
    ask: 'Practices that it may launch for: any, or codes as ods:B82017 local:0042',
    isRepeatable: true,
    faultOf: practices,
  },
  rights: {
    option: 'right',
    ask: 'Rights, as audit.read or token.introspect',
    isRepeatable: true,
    faultOf: word,
  },
  launchUrl: {
    option: 'launch-url',
    ask: 'launchUrl: the address of the launch handler',
    faultOf: partnerAddressFault,
  },
  redirectUris: {
    option: 'redirect-uri',
    ask: 'redirectUri: the address of the auth handler',
    isRepeatable: true,
    faultOf: partnerAddressFault,
  },
  backchannelLogoutUri: {
    option: 'backchannel-logout-uri',
    ask: 'backchannelLogoutUri: where the application is told of launches that were revoked',
    isOptional: true,
    isUnasked: true,
    faultOf: callbackAddressFault,
  },
  profile: {
    option: 'profile',
    ask: 'Profile, strict or standard (empty: strict)',
    isOptional: true,
    faultOf: mustMatch(/^(strict|standard)$/, 'must be strict or standard'),
  },
  scopes: {
    option: 'scope',
    ask: 'Scopes (empty: openid profile email offline_access launch resource.read)',
    isOptional: true,
    isRepeatable: true,
    faultOf: word,
  },
  callbackUrl: {
    option: 'url',
    ask: 'Address to which the order document is posted',
    faultOf: callbackAddressFault,
  },
  keepOldHours: {
    option: 'keep-old-hours',
    ask: 'Hours that the old secret works on (empty: 24)',
    isOptional: true,
    faultOf: mustMatch(/^\d{1,4}$/, 'must be a number of hours'),
  },
} as const satisfies Record<string, Question>;

/** Every question of the commands. */
export const questions: { readonly [Name in keyof typeof all]: Question } = all;

/** The answers to a command's questions, by option; those to optional ones may be missing. */
export type Answers = ReadonlyMap<string, readonly string[]>;

/** The answer to a question that has one. @throws TypeError when it has none */
export function one(answers: Answers, { option }: Question): string {
  const [answer] = answers.get(option) ?? [];
  if (answer === undefined) throw new TypeError(`--${option} has no answer`);
  return answer;
}

/** Puts a question to a person. */
export type Ask = (question: string) => Promise<string>;

/** What could not be found out, each by its option. */
export class UnansweredError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'UnansweredError';
    this.faults = faults;
  }
}

/**
 * Finds the answer to each question: what was given, and where a person can be asked, what they say, until it can be
 * used.
 * @throws UnansweredError that names every option that is missing or wrong, when nobody can be asked
 */
export async function findAnswers(
  asked: readonly Question[],
  given: Answers,
  ask: Ask | undefined,
): Promise<Answers> {
  const faults = asked.flatMap((question) => faultsOf(question, given.get(question.option), ask));
  if (faults.length > 0) throw new UnansweredError(faults);
  const answers = new Map<string, readonly string[]>();
  for (const question of asked) {
    const answer =
      given.get(question.option) ??
      (ask === undefined || question.isUnasked ? [] : await askUntilUsable(question, ask));
    if (answer.length > 0) answers.set(question.option, answer);
  }
  return answers;
}

function faultsOf(
  { option, isOptional, isRepeatable, faultOf }: Question,
  given: readonly string[] | undefined,
  ask: Ask | undefined,
): string[] {
  if (given === undefined) return ask === undefined && !isOptional ? [`--${option} is missing`] : [];
  if (!isRepeatable && given.length > 1) return [`--${option} can be given once`];
  return given.flatMap((answer) => {
    const fault = answer === '' ? 'must not be empty' : faultOf?.(answer);
    return fault === undefined ? [] : [`--${option} ${fault}`];
  });
}

async function askUntilUsable(question: Question, ask: Ask): Promise<readonly string[]> {
  let hint = '';
  for (;;) {
    const said = (await ask(`${hint}${question.ask}: `)).trim();
    const answer = question.isRepeatable ? said.split(/\s+/).filter(Boolean) : said === '' ? [] : [said];
    if (answer.length === 0 && question.isOptional) return [];
    const faults = answer.flatMap((one) => question.faultOf?.(one) ?? []);
    if (answer.length > 0 && faults.length === 0) return answer;
    hint = `${faults[0] ?? 'An answer is needed'}\n`;
  }
}
