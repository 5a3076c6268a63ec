import type { FaultCode } from '@clinical-launch/contracts/fault';
import { type AuditEntry, factOf, listOf, numberOf } from '../domain/audit-entry.ts';
import { launchTypes } from '../domain/audit-row.ts';
import {
  inOrder,
  launchNamedIn,
  payloadFaultsOf,
  verdictOf,
  writtenDuration,
} from '../domain/launch-story.ts';
import { presentEntry, presentParties } from './entry-model.ts';
import type { WriteTime } from './written-time.ts';

type LaunchOptions = {
  readonly guid: string;
  readonly entries: readonly AuditEntry[];
  /** Milliseconds since 1970 */
  readonly now: number;
  readonly write: WriteTime;
  /** Whether there are more events than the page shows. */
  readonly isCut: boolean;
  /** The pseudonym of a patient, to compare with the patients of the launch and of its orders. */
  readonly patient?: string | undefined;
};

/** Returns the model for the page of a launch or a request. */
export function presentLaunch({ guid, entries, now, write, isCut, patient }: LaunchOptions) {
  const ordered = inOrder(entries);
  const start = ordered[0]?.time.getTime() ?? now;
  const isLaunch = ordered.some(({ type }) => launchTypes.includes(type));
  const launch = launchNamedIn(ordered, guid);
  return {
    guid,
    isLaunch,
    isCut,
    verdict: verdictOf(ordered, now),
    launchHref: launch === undefined ? undefined : `/audit/launches/${launch}`,
    parties: partiesOf(ordered),
    compared: patient === undefined ? undefined : compare(ordered, patient),
    signIn: signInOf(ordered, write),
    references: [...new Set(ordered.flatMap(({ orderReferences }) => orderReferences ?? []))],
    ...presentFaults(ordered, guid),
    rows: ordered.map((entry, index) => ({
      ...presentEntry(entry, write),
      isOther: entry.correlationId !== guid,
      // The first event has no previous event.
      after: index === 0 ? '–' : writtenDuration(entry.time.getTime() - start),
      since:
        index === 0
          ? '–'
          : writtenDuration(entry.time.getTime() - (ordered[index - 1]?.time.getTime() ?? start)),
    })),
  };
}

type FoundLaunch = {
  readonly guid: string;
  /** All its events, and those of them that match the search, newest first. */
  readonly entries: readonly AuditEntry[];
  readonly matching: readonly AuditEntry[];
};

/** Returns the model for a row of results: the outcome of a launch or request, with the matching events. */
export function presentFound({ guid, entries, matching }: FoundLaunch, now: number, write: WriteTime) {
  const [newest] = matching;
  return {
    guid,
    time: newest && write(newest.time),
    verdict: verdictOf(entries, now),
    parties: partiesOf(inOrder(entries)),
    events: matching.map((entry) => presentEntry(entry, write)),
    isOne: entries.length === 1,
    href: `/audit/launches/${guid}`,
  };
}

/** Returns whether the launch and each submitted order contain the pseudonym of a patient. */
function compare(ordered: readonly AuditEntry[], patient: string) {
  const orders = ordered.filter(({ type }) => type === 'order.submitted.v1');
  const newest = new Map(orders.map((order) => [order.orderGuid, order]));
  return [
    { what: 'The launch', isSame: partiesOf(ordered).pseudonym === patient },
    ...[...newest.values()].map((order) => ({
      what: `Order ${order.orderReferences?.join(', ') ?? order.orderGuid ?? ''}`,
      isSame: order.patient === patient,
    })),
  ];
}

const isFaultCode = (code: string): code is FaultCode => Object.hasOwn(faultWords, code);

/** What is wrong at the place of a fault. docs/reference/errors.md explains each code. */
const faultWords: Readonly<Record<FaultCode, string>> = {
  structure: 'has the wrong structure',
  required: 'is missing',
  value: 'has a value that is not allowed',
  invariant: 'does not fit the rest of the request',
  'code-invalid': 'has a code that is not allowed',
  'too-long': 'is too long',
  duplicate: 'was sent twice with different values',
  'multiple-matches': 'fits several resources',
  'not-found': 'refers to something that is not in the request',
  'not-supported': 'has a value that the platform does not support',
  'business-rule': 'was not agreed with this client',
  'too-costly': 'is too large',
};

/** Returns the faults of the last refused payload, and a text about them for the supplier. */
function presentFaults(ordered: readonly AuditEntry[], guid: string) {
  const refused = ordered.findLast((entry) => payloadFaultsOf(entry).length > 0);
  if (refused === undefined) return {};
  const faults = payloadFaultsOf(refused);
  const { status, reason, client, time } = refused;
  const lines = [
    `Clinical Launch refused a request of ${client ?? 'your system'}: ${[status, reason].filter(Boolean).join(' ')}`,
    `Reference (X-Correlation-Id): ${guid}`,
    `Time: ${time.toISOString()}`,
    'Faults in the payload:',
    ...faults.map(({ path, code }) => `- ${[path, code].filter(Boolean).join(': ')}`),
    'POST the payload to /AccessApi/Validate to get the remedy of each fault.',
  ];
  // Omits the last line for other APIs, because only the launch API has an endpoint that validates payloads.
  const text = refused.type === 'launch.url.refused.v1' ? lines : lines.slice(0, -1);
  const worded = faults.map(({ path, code }) => ({
    path,
    what: isFaultCode(code) ? faultWords[code] : code,
  }));
  return { faults: worded, forSupplier: text.join('\n') };
}

/** Returns the parties of a launch, each from the first event that contains it. */
function partiesOf(ordered: readonly AuditEntry[]) {
  const first = <Name extends keyof AuditEntry>(name: Name) =>
    ordered.find((entry) => entry[name] !== null)?.[name] ?? null;
  return presentParties({
    client: first('client'),
    user: first('user'),
    userDisplay: first('userDisplay'),
    practice: first('practice'),
    practiceName: first('practiceName'),
    patient: first('patient'),
    address: first('address'),
  });
}

/**
 * Returns the sign-in of the user as text, such as `AAL3, sc pin, 1 July 2026 at 14:00:05`. Returns an empty
 * text if the event of the launch does not contain the sign-in.
 */
function signInOf(ordered: readonly AuditEntry[], write: WriteTime): string {
  const issued = ordered.find(({ type }) => launchTypes.includes(type));
  if (issued === undefined) return '';
  const authTime = numberOf(issued, 'authTime');
  const time = authTime === undefined ? undefined : write(authTime * 1000).text;
  return [factOf(issued, 'acr'), listOf(issued, 'amr').join(' '), time].filter(Boolean).join(', ');
}
