const passwordOf = (user: string) => `password-of-${user}`;

/** Returns the address of a server with the name and the password of a user. */
export function addressAs(user: string, address: string): string {
  const url = new URL(address);
  url.username = user;
  url.password = passwordOf(user);
  return url.href;
}

/** Returns the arguments of each `ACL SETUSER`: the users of an ACL file, after an administrator `admin`. */
export function redisUsers(aclFile: string): string[][] {
  const admin = `user admin reset on >${passwordOf('admin')} ~* &* +@all`;
  return [admin, ...aclFile.trim().split('\n')].map((line) => {
    const [, ...words] = line.match(/\([^)]*\)|\S+/g) ?? [];
    return words;
  });
}
