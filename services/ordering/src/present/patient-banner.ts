import {
  doubtOf,
  identifierLabels,
  isPrintable,
  shownIdentifier,
} from '@clinical-launch/contracts/coded-identifiers';
import type { LaunchPatient, LaunchRequest } from '@clinical-launch/contracts/launch-context';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { shortened, writtenDate } from '@clinical-launch/contracts/time';
import type { ActionRule } from '../domain/action-rules.ts';
import { monthsOld } from '../domain/days.ts';
import { fullName, isSameName, listName, patientName } from '../domain/person-name.ts';
import type { TestRequest } from '../domain/test-request.ts';

export type PatientBanner = {
  readonly name: string;
  readonly listName: string;
  readonly previousName?: string;
  readonly born: string;
  /** The date of birth with a short month, for lists. */
  readonly shortBorn: string;
  /** The age today; absent if the date of birth is after today. */
  readonly age?: string;
  readonly gender: string;
  readonly identifiers: readonly {
    readonly label: string;
    readonly value: string;
    /** Why the identifier is not used to find requests. */
    readonly doubt?: 'placeholder' | 'not valid';
  }[];
  readonly address: string;
  /** Telephone numbers such as `01947 555 0142 (home)`; empty if the practice system sent none. */
  readonly telephones: readonly string[];
  readonly requester: string;
  readonly author: string;
  readonly practice: string;
  /** The patient who is open in the practice system; present if the request may be for another patient. */
  readonly openedFor?: { readonly name: string; readonly born: string };
};

const genders = { male: 'Male', female: 'Female', other: 'Other', unknown: 'Not known' } as const;

/**
 * Presents the patient, requester, author and practice of a launch.
 * @param today YYYY-MM-DD at the practice
 */
export function presentBanner(request: LaunchRequest, today: string): PatientBanner {
  const { patient, requester, author, practice } = request;
  const age = ageOn(today, patient.birthDate);
  const born = writtenDate(patient.birthDate);
  return {
    name: patientName(patient.name),
    listName: listName(patient.name),
    ...withoutUndefined({ previousName: patient.previousFamilyName }),
    born,
    shortBorn: shortened(born),
    ...withoutUndefined({ age }),
    gender: genders[patient.gender],
    identifiers: presentIdentifiers(patient),
    address: [...patient.address.lines, patient.address.postalCode ?? ''].filter(Boolean).join(', '),
    telephones: patient.telecom
      .filter(({ system }) => system === 'phone')
      .map(({ value, use }) => (use === undefined ? value : `${value} (${use})`)),
    requester: fullName(requester.name),
    author: fullName(author.name),
    practice: practice.name,
  };
}

/**
 * Presents the banner of a page. The banner shows the patient of the request that the page is about,
 * otherwise the patient of the launch. A list of a whole practice shows no patient.
 * @param about the request that the page is about
 */
export function presentPageBanner(
  request: LaunchRequest,
  { rule, about, today }: { rule: Pick<ActionRule, 'sees'>; about: TestRequest | undefined; today: string },
): PatientBanner | Pick<PatientBanner, 'author' | 'practice'> {
  const banner = presentBanner(shownRequest(request, about), today);
  if (rule.sees !== 'practice')
    return { ...banner, ...openedForAnother(about?.parties.patient ?? request.patient, request.patient) };
  return about === undefined ? { author: banner.author, practice: banner.practice } : banner;
}

/**
 * Returns the patient who is open in the practice system if the patient of the request has another name or
 * date of birth.
 */
function openedForAnother(shown: LaunchPatient, opened: LaunchPatient): Pick<PatientBanner, 'openedFor'> {
  const isSame = isSameName(shown.name, opened.name) && shown.birthDate === opened.birthDate;
  return isSame ? {} : { openedFor: { name: patientName(opened.name), born: writtenDate(opened.birthDate) } };
}

function shownRequest(request: LaunchRequest, about: TestRequest | undefined): LaunchRequest {
  if (about === undefined) return request;
  const { patient, requester } = about.parties;
  return { ...request, patient, requester };
}

/**
 * Presents identifiers. National identifiers come before local identifiers, and the NHS number comes first,
 * in groups of 3, 3 and 4 digits.
 */
export function presentIdentifiers({
  identifiers,
}: Pick<LaunchPatient, 'identifiers'>): PatientBanner['identifiers'] {
  const ranks = Object.keys(identifierLabels);
  return identifiers
    .toSorted((one, other) => ranks.indexOf(one.system) - ranks.indexOf(other.system))
    .map((identifier) => ({
      label: identifierLabels[identifier.system],
      ...doubtIn(identifier),
      value: shownIdentifier(identifier),
    }));
}

function doubtIn(identifier: LaunchPatient['identifiers'][number]) {
  const doubt = doubtOf(identifier);
  if (doubt === undefined) return {};
  return { doubt: doubt === 'placeholder' ? doubt : ('not valid' as const) };
}

/** Presents the identifiers that papers contain: the same as the order document. */
export const presentPrintedIdentifiers = ({ identifiers }: Pick<LaunchPatient, 'identifiers'>) =>
  presentIdentifiers({ identifiers: identifiers.filter(isPrintable) });

/** Returns the age: until the second birthday in months, weeks or days, and then in years. */
export function ageOn(today: string, birthDate: string): string | undefined {
  const wholeMonths = monthsOld(today, birthDate);
  if (wholeMonths === undefined) return undefined;
  if (wholeMonths >= 24) return counted(Math.floor(wholeMonths / 12), 'year');
  if (wholeMonths >= 1) return counted(wholeMonths, 'month');
  const days = (Date.parse(today) - Date.parse(birthDate)) / 86_400_000;
  return days >= 7 ? counted(Math.floor(days / 7), 'week') : counted(days, 'day');
}

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
