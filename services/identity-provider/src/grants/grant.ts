import type { RegisteredClient } from '@clinical-launch/contracts';
import type { Call } from '@clinical-launch/service';
import type { IssuingRealm } from '../domain/realms.ts';

/** A token request whose client is authenticated. */
export type GrantRequest = {
  readonly realm: IssuingRealm;
  readonly client: RegisteredClient;
  /** The grant's own parameters, by name; one that was empty is absent (RFC 6749 section 3.2). */
  readonly parameters: ReadonlyMap<string, string>;
  readonly call: Call;
};

/** RFC 6749 section 5.1 */
export type TokenAnswer = {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** seconds */
  readonly expires_in: number;
  /** Absent when the client has no rights: an empty scope cannot be written. */
  readonly scope?: string;
};

/** One way to get a token: what it is called, what it reads, what it does. */
export type Grant = {
  /** The value of `grant_type` */
  readonly type: string;
  /** Its parameters, beyond those that every grant has. Each may be sent once; others are ignored. */
  readonly parameters: readonly string[];
  /** Gives the token. @throws TokenRefusal */
  handle(request: GrantRequest): Promise<TokenAnswer>;
};
