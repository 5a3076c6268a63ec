import { randomInt, randomUUID } from 'node:crypto';
import { anOrder } from '@clinical-launch/simulators/play/oltr-launch';
import type { Patient } from '@clinical-launch/simulators/records';
import { aNhsNumber } from '@clinical-launch/testing/nhs-number';

const aWord = (length: number) =>
  Array.from({ length }, () => String.fromCharCode('a'.charCodeAt(0) + randomInt(26))).join('');
const aName = () => `Q${aWord(11)}`;
const digits = (length: number) => Array.from({ length }, () => randomInt(10)).join('');

/** Returns a patient with random values that do not occur elsewhere by chance. */
export function aHiddenPatient(): Patient {
  const birthDate = `19${randomInt(20, 40)}-0${randomInt(1, 10)}-${randomInt(10, 29)}`;
  return {
    id: 'hidden',
    guid: randomUUID(),
    ehrPartnerId: digits(12),
    name: { title: 'Mrs', family: aName(), given: [aName(), aName()] },
    previousFamilyName: aName(),
    birthDate,
    gender: 'female',
    address: { lines: [`${randomInt(10, 99)} ${aName()} Lane`, aName()], postalCode: 'ZE99 9ZZ' },
    identifiers: [
      { system: 'nhs-number', value: aNhsNumber() },
      { system: 'hospital-number', value: `WH-${digits(10)}` },
    ],
    telecom: [
      { system: 'phone', value: `0${digits(10)}`, use: 'home' },
      { system: 'email', value: `${aWord(14)}@example.org` },
    ],
  };
}

/** Returns a patient's values in every format in which they could be written. */
export function valuesOf(patient: Patient): string[] {
  const { name, previousFamilyName, birthDate, address, identifiers, telecom, guid, ehrPartnerId } = patient;
  const [year = '', month = '', day = ''] = birthDate.split('-');
  const monthOf = (length: 'long' | 'short') =>
    new Date(birthDate).toLocaleString('en-GB', { month: length, timeZone: 'UTC' });
  const [nhsNumber = ''] = identifiers.map(({ value }) => value);
  return [
    name.family,
    ...name.given,
    previousFamilyName ?? '',
    birthDate,
    `${year}${month}${day}`,
    `${day}/${month}/${year}`,
    `${day} ${monthOf('long')} ${year}`,
    `${day} ${monthOf('short')} ${year}`,
    `${day}-${monthOf('short')}-${year}`,
    ...address.lines,
    address.postalCode ?? '',
    ...identifiers.map(({ value }) => value),
    nhsNumber.replace(/(...)(...)(....)/, '$1 $2 $3'),
    nhsNumber.replace(/(...)(...)(....)/, '$1-$2-$3'),
    ...telecom.map(({ value }) => value),
    guid,
    ehrPartnerId,
  ].filter((value) => value !== '');
}

/**
 * Returns an order request for a patient, by a user with a random name that does not occur elsewhere by
 * chance.
 */
export function aHiddenOrder({ id: _id, guid: _guid, ehrPartnerId: _partner, ...patient }: Patient) {
  const author = { username: aWord(14), name: { title: 'Dr', family: aName(), given: [aName()] } };
  return { ...anOrder(), patient, author };
}
