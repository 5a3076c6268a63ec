const passwordOf = (user: string) => `password-of-${user}`;

/** Returns the address of a server with the name and password of a user. */
export function addressAs(user: string, address: string): string {
  const url = new URL(address);
  url.username = user;
  url.password = passwordOf(user);
  return url.href;
}

/**
 * Returns the arguments of each `ACL SETUSER`: for an administrator `admin`, and the users of an ACL file.
 */
export function redisUsers(aclFile: string): string[][] {
  const admin = `user admin reset on >${passwordOf('admin')} ~* &* +@all`;
  return [admin, ...aclFile.trim().split('\n')].map((line) => {
    const [, ...words] = line.match(/\([^)]*\)|\S+/g) ?? [];
    return words;
  });
}
