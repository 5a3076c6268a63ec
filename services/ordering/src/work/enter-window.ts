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
import type { Launch, WorkDependencies } from './launch.ts';

type Entry = {
  readonly browserKeys: readonly string[];
  /** The key of a new browser, stored if the request has no cookie of a known browser. */
  readonly newBrowserKey: string;
  /** Whether the user chose this window with the button of a locked window. */
  readonly isChoice: boolean;
};

export type EnteredWindow = WindowState & {
  /** Whether the new key was stored, so that the response must set its cookie. */
  readonly isNewBrowser: boolean;
  /** Whether windows of another subject were locked, so that their audit events wait in the outbox. */
  readonly locksOthers: boolean;
};

/**
 * Returns whether the window of a launch is the chosen window of its browser. The first page of a launch, and
 * the button of a locked window, choose the window. If another user or patient was chosen, locks their
 * windows, and stores the audit events in the same transaction. The first page does not choose the window if
 * a request that was received later has chosen another one.
 */
export async function enterWindow(
  { database, pseudonyms }: Pick<WorkDependencies, 'database' | 'pseudonyms'>,
  { context, call }: Launch,
  entry: Entry,
): Promise<EnteredWindow> {
  const { browserKeys, newBrowserKey, isChoice } = entry;
  const { launchId, client, request } = context;
  const subject = { subjectKey: subjectKeyOf(context), userKey: userKeyOf(request, client, undefined) };
  const seen = await findBrowsers(database, browserKeys);
  if (!isChoice && seen.length > 0 && (await isOpened(database, launchId))) {
    return stateOf(database, subject, seen);
  }
  // A page that was slow must not lock the windows that the user opened after it.
  const now = call.receivedAt;
  return database.transaction().execute(async (tx): Promise<EnteredWindow> => {
    const isOpening = await storeOpening(tx, launchId, now);
    const known = await lockBrowsers(tx, browserKeys);
    // A browser that lost its cookie has no chosen window, so its next window is chosen.
    const isOvertaken = known.some(({ chosenAt }) => Date.parse(chosenAt) > now);
    if ((!isOpening || isOvertaken) && !isChoice && known.length > 0) return stateOf(tx, subject, known);
    const displaced = known.filter(({ subjectKey }) => subjectKey !== subject.subjectKey);
    const [first] = known;
    const isSame = first !== undefined && known.every(({ token }) => token === first.token);
    const token = isSame && displaced.length === 0 ? first.token : randomUUID();
    const isNewBrowser = known.length === 0;
    const keys = isNewBrowser ? [newBrowserKey] : known.map(({ browserKey }) => browserKey);
    const chosen = { launchId, ...subject, who: whoOf(context, pseudonyms) };
    await storeChoice(tx, chosen, { browserKeys: keys, token, now });
    const locksOthers = displaced.length > 0;
    if (locksOthers) await appendToOutbox(tx, eventsOf({ context, call }, displaced, isOpening));
    return { isChosen: true, token, isNewBrowser, locksOthers };
  });
}

async function stateOf(
  database: OrderingDatabase,
  subject: Pick<WindowSubject, 'subjectKey' | 'userKey'>,
  chosen: readonly ChosenWindow[],
): Promise<EnteredWindow> {
  const unchanged = { isNewBrowser: false, locksOthers: false };
  const by = findOther(subject, chosen);
  if (by !== undefined) return { isChosen: false, by, ...unchanged };
  // The first token is enough: choosing a window stores the same token for every browser cookie.
  const token = chosen[0]?.token ?? '';
  const since = chosen.map(({ chosenAt }) => chosenAt).toSorted()[0] ?? '';
  const browserKeys = chosen.map(({ browserKey }) => browserKey);
  const elsewhere = await findElsewhere(database, subject, { browserKeys, since });
  return { isChosen: true, token, ...(elsewhere && { elsewhere }), ...unchanged };
}

/**
 * Returns the patient that the notices of other windows name, and the data of the audit event if this launch
 * is locked.
 */
function whoOf({ request }: LaunchContext, pseudonyms: PatientPseudonyms): WindowSubject['who'] {
  const { action, author, practice, patient } = request;
  const isOfPatient = actionRules[action].sees !== 'practice';
  const { name, birthDate } = patient;
  return {
    ...(isOfPatient && { patient: { name, birthDate } }),
    concerning: concerningLaunch({ author, practice, ...(isOfPatient && { patient }) }, pseudonyms),
  };
}

/**
 * Returns the event of each locked launch, under its own GUID. If a locked window was chosen, also returns
 * the event that unlocks its launch.
 */
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

function lockedEvent({ launchId, who }: ChosenWindow, { context, call }: Launch): CloudEvent {
  const facts = { launchId, openedLaunchId: context.launchId };
  const event = call.event('launch.window.locked.v1', facts);
  const { patient: _ofOpened, ...data } = event.data;
  return { ...event, correlationid: launchId, data: { ...data, ...who.concerning } };
}
