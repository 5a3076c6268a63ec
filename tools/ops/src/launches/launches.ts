import { createAuditSearch } from '@clinical-launch/audit-trail/store/audit-search';
import { openSchema } from '@clinical-launch/audit-trail/store/tables';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { type Answers, type Option, type Setting, UsageError } from '@clinical-launch/process/command-line';
import { readEventKeys } from '@clinical-launch/process/event-keys';
import { connectRedis } from '@clinical-launch/redis/connect-redis';
import type { Environment } from '@clinical-launch/runtime/environment';
import { openPostgresStorage } from '@clinical-launch/storage/postgres-storage';
import { type Group, requiredOption } from '../command.ts';
import { databaseUrl, optional, redisPrefix, required } from '../settings.ts';
import { type EndedLaunches, type EndRequest, endLaunches } from './end-launches.ts';

const redisUrl: Setting = {
  name: 'REDIS_URL',
  summary: "Redis as the operator's user, redis://user:password@host:6379; or REDIS_URL_FILE",
};
const signingKeys: Setting = {
  name: 'EVENT_SIGNING_KEYS',
  summary:
    'The keys that sign the events of the operator, as `secrets` writes them; or EVENT_SIGNING_KEYS_FILE',
};
const settings = [
  { ...databaseUrl, summary: `The database of the audit trail: ${databaseUrl.summary}` },
  redisUrl,
  redisPrefix,
  signingKeys,
];

/** Refuses text that the audit trail cannot store, and text of several lines. */
const lineOf = (maxLength: number) => (value: string) =>
  value.length <= maxLength && /^[^\p{Cc}\p{Cs}\p{Cn}]*$/u.test(value)
    ? undefined
    : `must be one line of at most ${maxLength} characters`;

const selector = (name: 'user' | 'practice' | 'client' | 'partner', summary: string, maxLength: number) =>
  ({ name, value: name, summary, isOptional: true, faultOf: lineOf(maxLength) }) as const satisfies Option;
const selectors = [
  selector('user', 'The username, case-insensitive, at every practice and client', 1024),
  selector('practice', 'The code of the practice', 200),
  selector('client', 'The client that launched: a practice system or a host application', 200),
  selector('partner', 'The partner application of a desktop launch', 200),
];
const byName: Option = {
  name: 'by',
  value: 'name',
  summary: 'Your name, or the number of the incident, for the audit trail',
  faultOf: lineOf(100),
};
const defaultWaitSeconds = 120;
const wait: Option = {
  name: 'wait',
  value: 'seconds',
  summary: `How long to wait for events that the audit trail has not stored yet (default: ${defaultWaitSeconds})`,
  isOptional: true,
  faultOf: (value) => (/^\d{1,4}$/.test(value) ? undefined : 'must be a number of seconds up to 9999'),
};

/** `./clinical-launch launches` */
export const launches: Group = {
  commands: {
    end: {
      summary: 'Ends the live launches of a user, a practice, a client or a partner application.',
      details:
        'Give one selector, or several to end only launches that match all of them. Prints the ids of the launches,\n' +
        'including those of practice systems whose user has signed out. Finds launches in the audit trail, so it\n' +
        'finds no launch whose event is a dead letter.\n\n' +
        'Launch URLs, launch sessions, codes, refresh tokens and introspection are refused at once, and the resource\n' +
        'API refuses access tokens within five seconds. A server that checks an access token only by its signature\n' +
        'accepts it until it expires. New launches are not refused: first change the registry, or the user account\n' +
        'in the system that launches.\n\n' +
        'Needs Redis, PostgreSQL and RabbitMQ, so it cannot end launches of `npm start` without them.',
      example: '--user a.okonkwo --by INC-1234',
      options: [...selectors, byName, wait],
      settings,
      async run({ options, environment, now }) {
        const { by, selection, waitSeconds } = requestIn(options);
        const outcome = await withParts(environment, { by, selection, waitSeconds, now });
        return { lines: linesOf(outcome), result: outcome, problems: problemsOf(outcome) };
      },
    },
  },
};

function requestIn(options: Answers): Omit<EndRequest, 'now'> {
  const [user, practice, client, partner] = selectors.map(({ name }) => options.get(name)?.[0]);
  const selection = withoutUndefined({ user, practice, client, partner });
  if (Object.keys(selection).length === 0) {
    throw new UsageError('Give --user, --practice, --client or --partner');
  }
  const [waitSeconds = defaultWaitSeconds] = options.get(wait.name) ?? [];
  return { selection, by: requiredOption(options, byName), waitSeconds: Number(waitSeconds) };
}

function linesOf({ ended }: EndedLaunches): string[] {
  const count = ended.length === 1 ? '1 launch was ended' : `${ended.length} launches were ended`;
  const partners = [...new Set(ended.flatMap(({ partner }) => partner ?? []))];
  const note =
    'A server that checks an access token only by its signature accepts it until it expires. Partners: ';
  return [
    count,
    ...ended.map(({ launchId }) => launchId),
    ...(partners.length > 0 ? [note + partners.join(', ')] : []),
  ];
}

const problemsOf = ({ isComplete }: EndedLaunches): readonly string[] =>
  isComplete
    ? []
    : ['The audit trail has not stored all events of earlier launches yet. Run the command again later'];

/** @throws ConfigurationError in production, if the signing keys are missing */
async function withParts(environment: Environment, request: EndRequest): Promise<EndedLaunches> {
  const { writeEvent } = readEventKeys(environment, 'operator');
  const prefix = optional(environment, redisPrefix);
  const [url, address] = [required(environment, databaseUrl), required(environment, redisUrl)];
  const storage = await openPostgresStorage({ url, applicationName: 'ops launches', poolSize: 1 });
  try {
    const search = createAuditSearch(await openSchema(storage));
    const redis = await connectRedis(address);
    try {
      const place = { redis, writeEvent, ...withoutUndefined({ prefix }) };
      return await endLaunches(request, { search, redis: place });
    } finally {
      redis.disconnect();
    }
  } finally {
    await storage.close();
  }
}
