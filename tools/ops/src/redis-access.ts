import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { EventSource } from '@clinical-launch/contracts/events/cloud-event';
import { defaultPrefix } from '@clinical-launch/redis/redis-scripts';

export type RedisUser = {
  readonly service: EventSource;
  readonly name: string;
  readonly password: string;
};

/**
 * Returns the ACL rules of a service or of the operator, one rule in each line of its file in `tools/ops/redis`:
 * the commands without keys, then a selector for each right. Redis allows a command only if one selector
 * allows both the command and all of its keys. No command administers the server or lists keys.
 */
export const redisRulesOf = (service: EventSource): readonly string[] =>
  readFileSync(new URL(`../redis/${service}.acl`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

/**
 * Returns an ACL file (`aclfile`, or one `ACL SETUSER` for each line). The file contains a user for each
 * service, with its rules below the prefix. The user for health checks may only `PING`. The default user
 * cannot sign in. Passwords appear as SHA-256.
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
    const rules = redisRulesOf(service).join(' ').replaceAll(defaultPrefix, prefix);
    return `user ${name} reset on #${hash} ${rules}`;
  });
  // Redis loads its append-only file as the default user, and skips transactions that this user may not run.
  // Without rights, all tickets would be lost after a restart.
  const defaultUser = 'user default reset off ~* &* +@all';
  // The default user is last, because an administrator who sends the lines one by one may be this user.
  return ['user health reset on nopass +ping', ...lines, defaultUser, ''].join('\n');
}
