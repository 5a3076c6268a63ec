import type { LaunchContext } from '@clinical-launch/contracts/launch-context';
import { localTime, type WriteTime, writtenDate } from '@clinical-launch/contracts/time';
import type { ActionRule } from '../domain/action-rules.ts';
import type { WindowState } from '../domain/chosen-window.ts';
import { patientName } from '../domain/person-name.ts';
import { presentIdentifiers } from './patient-banner.ts';

type Lock = {
  readonly context: LaunchContext;
  readonly rule: Pick<ActionRule, 'sees'>;
  readonly launchId: string;
  /** The path of the launch: `/oltr/{launchId}/` */
  readonly home: string;
  readonly window: WindowState;
  /** The path of the locked page, relative to the launch. */
  readonly to: string;
  /** The typed fields that the notice sends back to the page. */
  readonly fields?: URLSearchParams;
};

/** Presents the notice of a locked window. */
export function presentLock({ context, rule, launchId, home, window, to, fields }: Lock) {
  const { patient } = context.request;
  return {
    launchId,
    home,
    opened: presentOpened(window),
    own:
      rule.sees === 'practice'
        ? undefined
        : {
            name: patientName(patient.name),
            born: writtenDate(patient.birthDate),
            identifier: presentIdentifiers(patient)[0],
          },
    // The typed fields, if there are any, are sent back to the page that they came from.
    action: fields === undefined ? `${home}window` : `${home}${to}`,
    carried: [...(fields ?? [['to', to] as const])]
      .filter(([field]) => !ownFields.has(field))
      .map(([field, value]) => ({ name: field, value })),
    pressed: fields && 'work-here',
  };
}

/** The fields that the notice's form contains itself. Their sent values are not copied into the form. */
const ownFields = new Set(['launch', 'window', 'action']);

/**
 * Presents the launch that locks this window. If no launch locks it, returns the kind `again`: this window's
 * patient was chosen again, but the form has an older token.
 */
function presentOpened(window: WindowState) {
  if (window.isChosen) return { kind: 'again' };
  const { by } = window;
  if (by.kind !== 'patient') return { kind: by.kind };
  const { name, birthDate } = by.patient;
  return { kind: by.kind, name: patientName(name), born: writtenDate(birthDate) };
}

/**
 * Presents the window of a page: the token for its forms, and a warning. A page from which the user can
 * submit is shown only in a chosen window.
 */
export function presentWindow(window: WindowState | undefined, { write }: { readonly write: WriteTime }) {
  if (window === undefined) return {};
  if (!window.isChosen) return { otherOpened: 'Another patient was opened in another window since.' };
  const { token, elsewhere } = window;
  if (elsewhere === undefined) return { windowToken: token };
  const at = write(elsewhere.at);
  return {
    windowToken: token,
    otherOpened: `You opened another patient in another browser or on another computer: ${at}.`,
  };
}

/**
 * Returns the end of the session: the local time for the page, and the remaining seconds for the script.
 * `lastSeconds` is absent if the session has no absolute end.
 */
export function presentSession(
  { idleSeconds, lastSeconds }: { readonly idleSeconds: number; readonly lastSeconds: number },
  { now, timeZone }: { readonly now: number; readonly timeZone: string },
) {
  const leftSeconds = Math.min(idleSeconds, lastSeconds);
  return {
    idleSeconds,
    ...(Number.isFinite(lastSeconds) ? { lastSeconds: Math.floor(lastSeconds) } : {}),
    until: localTime(now + leftSeconds * 1000, timeZone).slice(11, 16),
    // Whether a request can still extend the session.
    canExtend: lastSeconds > idleSeconds,
  };
}
