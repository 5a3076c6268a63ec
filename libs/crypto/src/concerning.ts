import type { DesktopContext } from '@clinical-launch/contracts/desktop-context';
import type { Concerning } from '@clinical-launch/contracts/events/catalogue';
import type { LaunchRequest, PersonName } from '@clinical-launch/contracts/launch-context';
import type { PatientPseudonyms } from './patient-pseudonym.ts';

/** Returns whom the events of a launch are about, as far as its parties are known. */
export function concerningLaunch(
  { author, practice, patient }: Partial<Pick<LaunchRequest, 'author' | 'practice' | 'patient'>>,
  pseudonyms: PatientPseudonyms,
): Concerning {
  const pseudonym = patient && pseudonyms.ofPatient(patient);
  return {
    ...(author && { user: { username: author.username, name: writtenName(author.name) } }),
    ...(practice && { practice: { code: practice.identifier.value, name: practice.name } }),
    ...(pseudonym && { patient: pseudonym }),
  };
}

/** Returns whom the events of a desktop launch are about. */
export function concerningDesktopLaunch(
  { user, organisation, patient }: Pick<DesktopContext, 'user' | 'organisation' | 'patient'>,
  pseudonyms: PatientPseudonyms,
): Concerning {
  const { title, firstName, familyName } = user;
  const pseudonym = pseudonyms.ofDesktopPatient(patient);
  return {
    user: { username: user.userERN, name: writtenName({ title, given: [firstName], family: familyName }) },
    practice: { code: organisation.ods, name: organisation.orgName },
    ...(pseudonym && { patient: pseudonym }),
  };
}

const writtenName = ({ title = '', given, family }: PersonName): string =>
  [title, ...given, family].filter((part) => part !== '').join(' ');
