import { createHash } from 'node:crypto';
import type { EventSource } from '@clinical-launch/contracts/events/cloud-event';
import { defaultPrefix } from '@clinical-launch/redis/redis-scripts';
import {
  appendsEvents,
  countsRefusals,
  countsRequests,
  endsLaunches,
  endsSessions,
  extendsTicket,
  finds,
  issues,
  issuesAdditional,
  type RedisAbility,
  type RedisRight,
  readsRevokedTokens,
  redeems,
  redeemsRevocably,
  relaysEvents,
  restoresIdentifiers,
  revokesChainsOf,
  revokesTokens,
  seesRevocations,
  slowsAttempts,
  takesIdentifiers,
  takesProofs,
  usesChains,
} from './redis-abilities.ts';

/** All activities of each service and of the operator in Redis. Add a line for each new activity. */
export const redisAccess: Readonly<Record<EventSource, readonly RedisAbility[]>> = {
  'identity-provider': [
    issues('launch-identifier'),
    finds('launch-identifier'),
    issuesAdditional('pushed-request', 'launch-identifier'),
    redeems('pushed-request'),
    redeems('launch-identifier', 'authorization-code'),
    finds('authorization-code'),
    redeemsRevocably('authorization-code', 'refresh-token'),
    finds('refresh-token'),
    redeemsRevocably('refresh-token', 'refresh-token'),
    revokesChainsOf('launch-identifier'),
    revokesTokens,
    readsRevokedTokens,
    takesProofs,
    appendsEvents,
    slowsAttempts,
    countsRequests('identity-provider'),
    countsRefusals,
  ],
  'launch-api': [
    issues('launch-token'),
    takesIdentifiers,
    readsRevokedTokens,
    countsRequests('launch-api'),
    countsRefusals,
  ],
  'launch-gateway': [redeems('launch-token', 'launch-session'), countsRefusals],
  ordering: [
    finds('launch-session'),
    extendsTicket('launch-session'),
    redeems('launch-session'),
    countsRefusals,
  ],
  'order-renderer': [finds('launch-session'), countsRefusals],
  'resource-api': [seesRevocations, usesChains, countsRequests('resource-api'), countsRefusals],
  'audit-trail': [
    restoresIdentifiers,
    readsRevokedTokens,
    endsSessions,
    relaysEvents,
    appendsEvents,
    countsRefusals,
  ],
  operator: [endsLaunches, appendsEvents],
};

/**
 * The commands that every user needs: ioredis sends `INFO`, names its connections, and queries the nodes of a
 * cluster. The scripts read the time, and the replication id from `INFO`. No command administers the server
 * or lists keys.
 */
export const connectionCommands: readonly string[] = [
  'ping',
  'info',
  'time',
  'select',
  'client|setname',
  'cluster|info',
  'cluster|slots',
  'readonly',
  'asking',
];

/**
 * The commands that run scripts. These commands may name any key, because Redis checks each command in a
 * script separately.
 */
export const scriptCommands: readonly string[] = ['evalsha', 'eval'];

/** A Redis user and its service. */
export type RedisUser = {
  readonly service: EventSource;
  readonly name: string;
  readonly password: string;
};

/**
 * Returns an ACL file (`aclfile`, or one `ACL SETUSER` for each line). The file contains a user for each
 * service, with the rights of `redisAccess` below the prefix. The user for health checks may only `PING`. The
 * default user cannot sign in. Passwords appear as SHA-256.
 * @throws TypeError for a name or a prefix that an ACL rule cannot contain, and when two services share a
 * user
 */
export function redisAclFile(users: readonly RedisUser[], prefix: string = defaultPrefix): string {
  if (!/^[\w:.-]*$/.test(prefix)) {
    throw new TypeError(
      'A Redis prefix with users may contain only letters, digits, underscores, hyphens, dots and colons',
    );
  }
  const names = users.map(({ name }) => name);
  const unusable = names.find((name) => !/^[\w.-]+$/.test(name) || ['default', 'health'].includes(name));
  if (unusable !== undefined)
    throw new TypeError('A Redis user name is not allowed in an ACL rule. Choose another name');
  if (new Set(names).size < names.length) throw new TypeError('Each service needs its own Redis user');
  const lines = users.map(({ service, name, password }) => {
    const hash = createHash('sha256').update(password).digest('hex');
    return `user ${name} reset on #${hash} ${rulesOf(service, prefix).join(' ')}`;
  });
  // Redis loads its append-only file as the default user, and skips transactions that this user may not run.
  // Without rights, all tickets would be lost after a restart.
  const defaultUser = 'user default reset off ~* &* +@all';
  // The default user is last, because an administrator who sends the lines one by one may be this user.
  return ['user health reset on nopass +ping', ...lines, defaultUser, ''].join('\n');
}

/**
 * Returns the commands without keys, then a selector for each right. Redis allows a command only if one
 * selector allows both the command and all of its keys.
 */
function rulesOf(service: EventSource, prefix: string): string[] {
  const rights = redisAccess[service].flatMap((ability) => ability.rights);
  const selectors = [{ commands: scriptCommands, changes: ['*'] }, ...rights].map(
    (right) => `(${[...allowed(right.commands), ...patternsOf(right, prefix)].join(' ')})`,
  );
  return [...allowed(connectionCommands), ...new Set(selectors)];
}

const allowed = (commands: readonly string[]) => commands.map((command) => `+${command}`);

function patternsOf(
  { reads = [], writes = [], changes = [], channels = [] }: Omit<RedisRight, 'commands'>,
  prefix: string,
) {
  const pattern = (permission: string) => (name: string) => `${permission}~${prefix}{s??}:${name}`;
  return [
    ...reads.map(pattern('%R')),
    ...writes.map(pattern('%W')),
    ...changes.map(pattern('')),
    ...channels.map((name) => `&${prefix}${name}`),
  ];
}
