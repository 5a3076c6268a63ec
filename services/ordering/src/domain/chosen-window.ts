import type { Concerning } from '@clinical-launch/contracts/events/catalogue';
import type { LaunchPatient } from '@clinical-launch/contracts/launch-context';

/**
 * The parts of a launch by which the windows of one browser are compared. Windows of the same user and
 * patient have the same subject, and do not lock each other.
 */
export type WindowSubject = {
  readonly launchId: string;
  /** The key of the user and the patient (`subjectKeyOf`). */
  readonly subjectKey: string;
  /** The key of the user at the practice and client (`userKeyOf`). */
  readonly userKey: string;
  readonly who: {
    /** Absent for a list of a whole practice. */
    readonly patient?: Pick<LaunchPatient, 'name' | 'birthDate'>;
    /** The user, the practice and the patient's pseudonym, for the audit event of a lock. */
    readonly concerning: Concerning;
  };
};

/** The launch that was opened or chosen last in a browser. */
export type ChosenWindow = WindowSubject & {
  /** The key of the browser: the SHA-256 of its cookie. */
  readonly browserKey: string;
  /** Changes when another subject is chosen. Submissions contain the token of their page. */
  readonly token: string;
  /** ISO 8601 instant */
  readonly chosenAt: string;
};

/** The window of a launch in its browser. */
export type WindowState =
  /** Forms with this token are accepted. */
  | { readonly isChosen: true; readonly token: string; readonly elsewhere?: LaunchElsewhere }
  /** A launch for another patient or user was opened or chosen later in this browser. */
  | { readonly isChosen: false; readonly by: OtherSubject };

/**
 * A launch for another patient that the same user opened after this window was chosen, in another browser or
 * on another computer.
 */
export type LaunchElsewhere = {
  /** ISO 8601 instant */
  readonly at: string;
};

/**
 * The patient of the launch that was opened or chosen later. The patient is named only if client, practice
 * and user are the same.
 */
export type OtherSubject =
  | { readonly kind: 'patient'; readonly patient: Pick<LaunchPatient, 'name' | 'birthDate'> }
  | { readonly kind: 'practice' | 'unnamed' };

/**
 * Returns the subject that locks this window: the subject of another launch that was opened or chosen later
 * in the same browser. If this window is the chosen window, returns undefined. If the request has the cookies
 * of several browsers, this window must be the chosen window in each of them.
 */
export function findOther(
  { subjectKey, userKey }: Pick<WindowSubject, 'subjectKey' | 'userKey'>,
  chosen: readonly Pick<ChosenWindow, 'subjectKey' | 'userKey' | 'who'>[],
): OtherSubject | undefined {
  const other = chosen.find((each) => each.subjectKey !== subjectKey);
  if (other === undefined) return undefined;
  if (other.userKey !== userKey) return { kind: 'unnamed' };
  const { patient } = other.who;
  return patient === undefined ? { kind: 'practice' } : { kind: 'patient', patient };
}
