import { styleText } from 'node:util';
import { pause } from '@clinical-launch/runtime/clock';
import { demoSecret } from '@clinical-launch/trust/production-registry';
import type { PlatformNames } from '../platform-names.ts';

export type PlayedPlatform = PlatformNames & { readonly baseUrl: string };

/**
 * Returns a function that replaces the public address of the platform with `BASE_URL`. The addresses differ
 * behind a forwarded port, for example.
 */
export const reachedAt =
  ({ baseUrl }: Pick<PlayedPlatform, 'baseUrl'>) =>
  (address: string): string => {
    const { pathname, search } = new URL(address);
    return `${baseUrl}${pathname}${search}`;
  };

/**
 * Polls the audit trail until it contains all wanted events of a launch, because events arrive
 * asynchronously.
 * @throws Error if an event does not arrive within ten seconds
 */
export async function expectStory(
  played: PlayedPlatform,
  correlationId: string,
  wanted: readonly string[],
): Promise<void> {
  const token = await fetchToken(played, 'audit-demo');
  for (const giveUpAt = Date.now() + 10_000; ; ) {
    const response = await fetch(`${played.baseUrl}/audit/events?correlationId=${correlationId}`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { events = [] } = (await response.json()) as { events?: { type: string }[] };
    const types = events.map(({ type }) => type);
    if (wanted.every((type) => types.includes(type)))
      return printStep('the audit trail lists the events of the launch', types.join(', '));
    if (Date.now() > giveUpAt) throw new Error(`The audit trail has only ${types.join(', ')}`);
    await pause(50);
  }
}

/** Returns an access token of a client of the demo registry. @throws Error if no token is issued */
export async function fetchToken({ baseUrl, scope }: PlayedPlatform, clientId: string): Promise<string> {
  const response = await fetch(`${baseUrl}/idp/demo/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: demoSecret(clientId),
      scope,
    }),
  });
  const { access_token } = (await response.json()) as { access_token?: string };
  if (access_token === undefined) throw new Error(`No access token for ${clientId} (${response.status})`);
  return access_token;
}

/** Prints a statement if it is true. @throws Error if the statement is false */
export function expect(isTrue: boolean, claim: string): void {
  if (!isTrue) throw new Error(`This is not true: ${claim}`);
  printStep(claim);
}

const { stdout } = process;
let steps = 0;

/** Prints the heading of the steps that follow. */
export const printHeading = (title: string): void => void stdout.write(`\n${styleText('bold', title)}\n`);

/**
 * Prints one successful step with its number. Uses colours only at a terminal, and not if `NO_COLOR` is set.
 */
export function printStep(step: string, detail?: string): void {
  steps += 1;
  const shown = detail === undefined ? '' : styleText('dim', `: ${folded(detail)}`);
  stdout.write(`${String(steps).padStart(3)}  ${styleText('green', 'ok')}  ${step}${shown}\n`);
}

const maxDetail = 240;
const shownLines = 12;

const folded = (text: string) => (text.length <= maxDetail ? text : `${text.slice(0, maxDetail)}…`);

/** Prints the first lines of a document, and the number of further lines. */
export function showDocument(document: string): void {
  const lines = document.trimEnd().split('\n');
  const more = lines.length - shownLines;
  const shown = [...lines.slice(0, shownLines), ...(more > 0 ? [`… ${more} lines more`] : [])];
  stdout.write(shown.map((line) => `         ${styleText('dim', line)}\n`).join(''));
}
