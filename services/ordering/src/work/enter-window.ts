import { randomUUID } from 'node:crypto';
import type { CloudEvent } from '@clinical-launch/contracts/events/cloud-event';
import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { concerningLaunch, type PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import { appendToOutbox } from '@clinical-launch/storage/sql-outbox';
import { actionRules } from '../domain/action-rules.ts';
import {
  type ChosenWindow,
  findOther,
  type WindowState,
  type WindowSubject,
} from '../domain/chosen-window.ts';
import {
  findBrowsers,
  findElsewhere,
  isOpened,
  lockBrowsers,
  storeChoice,
  storeOpening,
} from '../store/browsers.ts';
import type { OrderingDatabase } from '../store/database.ts';
import { subjectKeyOf, userKeyOf } from '../store/keys.ts';
import type { WorkDependencies } from './dependencies.ts';
import type { Launch } from './launch.ts';

type Entry = {
  /** The keys of the browser cookies of the request. */
  readonly browserKeys: readonly string[];
  /** The key of a new browser, stored if the request has no cookie of a known browser. */
  readonly newBrowserKey: string;
  /** Whether the user chose this window with the button of a locked window. */
  readonly isChoice: boolean;
};

/** The state of the window. `isNewBrowser`: the new key was stored, so the response must set its cookie. */
export type Entered = WindowState & { readonly isNewBrowser: boolean };

/**
 * Returns whether the window of a launch is the chosen window of its browser. The first page of a launch, and
 * the button of a locked window, choose the window, unless the same user and patient are already chosen.
 * That locks the other windows of the browser, and stores the audit events in the same transaction.
 */
export async function enterWindow(
  { database, pseudonyms, clock }: Pick<WorkDependencies, 'database' | 'pseudonyms' | 'clock'>,
  { context, call }: Launch,
  entry: Entry,
): Promise<Entered> {
  const { browserKeys, newBrowserKey, isChoice } = entry;
  const subject = subjectOf(context, pseudonyms);
  const seen = await findBrowsers(database, browserKeys);
  if (!isChoice && seen.length > 0 && (await isOpened(database, subject.launchId))) {
    return stateOf(database, subject, seen);
  }
  const now = clock.now();
  return database.transaction().execute(async (tx): Promise<Entered> => {
    const isOpening = await storeOpening(tx, subject.launchId, now);
    const known = await lockBrowsers(tx, browserKeys);
    // A browser that lost its cookie has no chosen window, so its next window is chosen.
    if (!isOpening && !isChoice && known.length > 0) return stateOf(tx, subject, known);
    const displaced = known.filter(({ subjectKey }) => subjectKey !== subject.subjectKey);
    const [first] = known;
    const isSame = first !== undefined && known.every(({ token }) => token === first.token);
    const token = isSame && displaced.length === 0 ? first.token : randomUUID();
    const isNewBrowser = known.length === 0;
    const keys = isNewBrowser ? [newBrowserKey] : known.map(({ browserKey }) => browserKey);
    await storeChoice(tx, subject, { browserKeys: keys, token, now });
    const events = displaced.length === 0 ? [] : eventsOf({ context, call }, displaced, isOpening);
    await appendToOutbox(tx, events);
    return { isChosen: true, token, isNewBrowser };
  });
}

async function stateOf(
  database: OrderingDatabase,
  subject: WindowSubject,
  chosen: readonly ChosenWindow[],
): Promise<Entered> {
  const isNewBrowser = false;
  const by = findOther(subject, chosen);
  if (by !== undefined) return { isChosen: false, by, isNewBrowser };
  // The first token is enough: choosing a window stores the same token for every browser cookie.
  const token = chosen[0]?.token ?? '';
  const since = chosen.map(({ chosenAt }) => chosenAt).toSorted()[0] ?? '';
  const browserKeys = chosen.map(({ browserKey }) => browserKey);
  const elsewhere = await findElsewhere(database, subject, { browserKeys, since });
  return { isChosen: true, token, ...(elsewhere && { elsewhere }), isNewBrowser };
}

function subjectOf(context: LaunchContext, pseudonyms: PatientPseudonyms): WindowSubject {
  const { launchId, client, request } = context;
  const { author, practice, patient } = request;
  const isOfPatient = actionRules[request.action].sees !== 'practice';
  const { name, birthDate } = patient;
  return {
    launchId,
    subjectKey: subjectKeyOf(context),
    userKey: userKeyOf(request, client, undefined),
    who: {
      ...(isOfPatient && { patient: { name, birthDate } }),
      concerning: concerningLaunch({ author, practice, ...(isOfPatient && { patient }) }, pseudonyms),
    },
  };
}

/** Returns the event of each locked launch, under its own GUID, and the event of an unlocked launch. */
function eventsOf(
  { context, call }: Launch,
  displaced: readonly ChosenWindow[],
  isOpening: boolean,
): CloudEvent[] {
  const locked = new Map(displaced.map((window) => [window.launchId, window]));
  return [
    ...[...locked.values()].map((window) => lockedEvent(window, { context, call })),
    ...(isOpening ? [] : [call.event('launch.window.unlocked.v1', { launchId: context.launchId })]),
  ];
}

/** Returns the event of a locked launch, with the user and the patient of that launch. */
function lockedEvent({ launchId, who }: ChosenWindow, { context, call }: Launch): CloudEvent {
  const facts = { launchId, openedLaunchId: context.launchId };
  const event = call.event('launch.window.locked.v1', facts);
  const { patient: _ofOpened, ...data } = event.data;
  return { ...event, correlationid: launchId, data: { ...data, ...who.concerning } };
}
