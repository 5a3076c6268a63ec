import { doubtOf } from '@clinical-launch/contracts/coded-identifiers';
import { withoutUndefined } from '@clinical-launch/contracts/schema';
import { localDay } from '@clinical-launch/contracts/time';
import type { PatientPseudonyms } from '@clinical-launch/crypto/patient-pseudonym';
import type { Sealer } from '@clinical-launch/crypto/sealing';
import { criteriaOf, isMeasure } from '../../domain/activity.ts';
import { readCursor } from '../../domain/audit-entry.ts';
import { isEventGroup, typesOf } from '../../domain/event-words.ts';
import { instantOf, localMinuteForm, textFault } from '../../domain/search-values.ts';
import type { AuditCriteria } from '../../store/audit-search.ts';
import type { TypedWords } from '../../work/recognise-words.ts';
import { type CriterionName, readCriterion } from '../search-criteria.ts';

/** A fault of a form: the field, and a message about what to enter instead. */
export type FormFault = { readonly field: string; readonly message: string };

const maxLength = 200;
const reasonForm = /^[a-z_]{1,60}$/;
const minuteMs = 60_000;
const identifierPurpose = 'audit-identifier';

type Sealing = { readonly sealer: Sealer };
type Zone = { readonly timeZone: string };
/** The current time in milliseconds since 1970, for searches that depend on it. */
type Now = { readonly now: number };

export type TypedSearch = ReturnType<typeof readSearchForm>;

const wordFields = ['q', 'practice', 'user', 'client'] as const;

/**
 * Reads the search form. Replaces a patient's identifier with a pseudonym and seals the caller's identifier,
 * so that no address contains either identifier. The text of the word fields may identify a patient, so no
 * address contains it before it is recognised.
 */
export function readSearchForm(
  form: URLSearchParams,
  { sealer, timeZone, now, pseudonyms }: Sealing & Zone & Now & { readonly pseudonyms: PatientPseudonyms },
) {
  const address = new URLSearchParams();
  const typed = (name: string) => (form.get(name) ?? '').trim().slice(0, maxLength);
  const put = (name: string, value: string) => {
    if (value !== '') address.set(name, value);
  };
  const words = Object.fromEntries(
    wordFields.map((name) => [name, typed(name)]).filter(([, text]) => text !== ''),
  ) as Partial<Record<(typeof wordFields)[number], string>>;
  const patientValue = typed('patientValue');
  if (patientValue !== '')
    put('patient', pseudonyms.of({ system: typed('patientSystem'), value: patientValue }));
  else put('patient', typed('patient'));
  const identifier = (form.get('identifier') ?? '').trim().slice(0, 1000);
  put('identifier', identifier === '' ? '' : sealIdentifier(identifier, { sealer }));
  put('group', typed('group'));
  put('outcome', typed('outcome'));
  if (reasonForm.test(typed('reason'))) put('reason', typed('reason'));
  const today = localDay(now, timeZone);
  const around = minutesAround(words, today);
  if (around !== undefined) words.q = around.q;
  const from = typedTime(form, 'from', { otherwise: '00:00', today }) || (around?.from ?? '');
  const to = typedTime(form, 'to', { otherwise: '23:59', today }) || (around?.to ?? '');
  put('from', from);
  put('to', to);
  const faults: readonly FormFault[] = [
    ...wordFields
      .filter((name) => !isSearchText(words[name] ?? '-'))
      .map((field) => ({
        field,
        message: 'Remove the control characters. Type the text instead of pasting it',
      })),
    ...numberFaults(words.q ?? ''),
    ...timeFaults('from', from, timeZone),
    ...timeFaults('to', to, timeZone),
  ];
  return { words, address, faults };
}

/** Reports a mistyped NHS number, because a search for the number would find no patient. */
function numberFaults(value: string): FormFault[] {
  if (!/^[\d\s-]+$/.test(value) || value.replaceAll(/\D/g, '').length !== 10) return [];
  return doubtOf({ system: 'nhs-number', value }) === 'mistyped'
    ? [{ field: 'q', message: 'Check the NHS number. Its last digit does not match the others' }]
    : [];
}

const aroundMinutes = 15;

/** Reads a time of today after other words, as in `elm 9:10`, as the minutes around it. */
function minutesAround({ q = '' }: TypedWords, today: string) {
  const [, others = '', time = ''] = /^(.+?),?\s+(\d{1,2}[:.]\d\d(?:\s*[ap]\.?m\.?)?)$/i.exec(q) ?? [];
  const at = Date.parse(`${today}T${clockTime(time, '')}:00Z`);
  if (Number.isNaN(at)) return undefined;
  const minute = (minutes: number) => new Date(at + minutes * minuteMs).toISOString().slice(0, 16);
  return { q: others, from: minute(-aroundMinutes), to: minute(aroundMinutes) };
}

/**
 * Returns a typed day and time as `2026-03-02T16:05`, or an empty text if nothing was typed. A missing time
 * becomes `otherwise`, and a missing day is today.
 */
function typedTime(
  form: URLSearchParams,
  name: string,
  { otherwise, today }: { readonly otherwise: string; readonly today: string },
): string {
  const part = (field: string) => (form.get(`${name}-${field}`) ?? '').trim().slice(0, 10);
  const [day, month, year] = [part('day'), part('month'), part('year')];
  const time = part('time');
  if (`${day}${month}${year}` === '') return time === '' ? '' : `${today}T${clockTime(time, otherwise)}`;
  return `${year}-${twoDigits(month)}-${twoDigits(day)}T${clockTime(time, otherwise)}`;
}

const twoDigits = (number: string): string => (number === '' ? '' : number.padStart(2, '0'));

/** Converts a typed time to the 24-hour clock: `4:05pm`, `16.05` and `1605` become `16:05`. */
function clockTime(typed: string, otherwise: string): string {
  if (typed === '') return otherwise;
  const [, hour = '', minute = '00', half] =
    /^(\d{1,2})(?:[:.]?(\d\d))?\s*([ap])?\.?m?\.?$/i.exec(typed) ?? [];
  if (hour === '') return typed;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  return `${twoDigits(String(hours))}:${minute}`;
}

function timeFaults(field: string, minute: string, timeZone: string): FormFault[] {
  if (minute === '' || minuteOf(minute, { timeZone }) !== undefined) return [];
  const message = `Enter ${field === 'from' ? 'the first' : 'the last'} day as numbers, such as 2 3 2026, and a time such as 16:10`;
  return [{ field: `${field}-day`, message }];
}

/**
 * Reads the address of a page of results. Returns the names of invalid parameters, because ignoring them would
 * widen the search.
 */
export function readSearchAddress(query: URLSearchParams, options: Sealing & Zone & Now) {
  const given = Object.entries(readers).flatMap(([name, read]) => {
    const value = query.get(name) ?? '';
    if (value === '') return [];
    return [{ name, criteria: value.length > 3000 ? undefined : read(value, options) }];
  });
  const place = query.get('after');
  const after = readCursor(place ?? '');
  const read = given.filter(({ criteria }) => criteria !== undefined);
  const unreadable = given.filter(({ criteria }) => criteria === undefined).map(({ name }) => name);
  const criteria: AuditCriteria = Object.assign({}, ...read.map((one) => one.criteria));
  return {
    criteria,
    names: read.map(({ name }) => name),
    ...withoutUndefined({ after }),
    unreadable: place !== null && after === undefined ? [...unreadable, 'after'] : unreadable,
  };
}

/** Returns a fault for each invalid parameter, at a field of the form. */
export const addressFaults = (unreadable: readonly string[]): FormFault[] =>
  unreadable.map((name) => ({
    field:
      {
        from: 'from-day',
        to: 'to-day',
        patient: 'patientValue',
        after: 'q',
        guid: 'q',
        orderReference: 'q',
        reason: 'group',
      }[name] ?? name,
    message: 'The address of this page contains a value that cannot be searched for. Enter it again',
  }));

type Reader = (value: string, options: Sealing & Zone & Now) => AuditCriteria | undefined;

/** Reads a parameter as the API reads the criterion with this name. */
const asIn =
  (name: CriterionName): Reader =>
  (value) =>
    readCriterion(name, value);
const isSearchText = (value: string) => textFault(value, maxLength) === undefined;

const readers: Readonly<Record<string, Reader>> = {
  guid: asIn('correlationId'),
  client: asIn('client'),
  user: asIn('user'),
  practice: asIn('practice'),
  orderReference: asIn('orderReference'),
  patient: asIn('patient'),
  identifier: (sealed, options) => {
    const identifier = openIdentifier(sealed, options);
    return identifier === undefined ? undefined : { identifier };
  },
  group: (value, { now }) => {
    if (isMeasure(value)) return criteriaOf(value, now);
    return isEventGroup(value) ? { types: typesOf(value) } : undefined;
  },
  reason: (value) => (reasonForm.test(value) ? { reason: value } : undefined),
  outcome: (value) =>
    value === 'trouble' ? { outcomes: ['refused', 'failed'] } : readCriterion('outcome', value),
  from: (value, options) => {
    const from = minuteOf(value, options);
    return from && { from };
  },
  // Includes the whole minute.
  to: (value, options) => {
    const to = minuteOf(value, options);
    return to && { to: new Date(to.getTime() + minuteMs) };
  },
};

const minuteOf = (minute: string, { timeZone }: Zone) =>
  localMinuteForm.test(minute) ? instantOf(minute, timeZone) : undefined;

/** Seals a caller's identifier for an address. */
export const sealIdentifier = (identifier: string, { sealer }: Sealing): string =>
  sealer.seal(identifierPurpose, identifier, []);

/** Opens a sealed identifier from an address. Returns undefined if this service did not seal it. */
export function openIdentifier(sealed: string, { sealer }: Sealing): string | undefined {
  try {
    const opened = sealer.open(identifierPurpose, sealed, []);
    return typeof opened === 'string' ? opened : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The parameters whose value the search box can show. If an address contains several of them, the box shows
 * the first in this list.
 */
const boxed = ['guid', 'orderReference', 'user', 'practice', 'client'];

/**
 * Returns the fields of the form for an address of results. Shows the first parameter of `boxed` in the
 * search box.
 */
export function fieldsOf(query: URLSearchParams, options: Sealing) {
  const inBox = boxed.find((name) => query.has(name));
  const field = (name: string) => (name === inBox ? '' : (query.get(name) ?? ''));
  const more = {
    ...Object.fromEntries(
      ['patient', 'group', 'outcome', 'reason', 'user', 'practice', 'client'].map((name) => [
        name,
        field(name),
      ]),
    ),
    identifier: openIdentifier(field('identifier'), options) ?? '',
  };
  const [from, to] = [field('from'), field('to')];
  return {
    q: inBox === undefined ? '' : (query.get(inBox) ?? ''),
    ...more,
    from: fieldsOfTime(from),
    to: fieldsOfTime(to),
    hasMore: [...Object.values(more), from, to].some((value) => value !== ''),
  };
}

function fieldsOfTime(minute: string) {
  const [, year = '', month = '', day = '', time = ''] = /^([^-]*)-([^-]*)-([^-]*)T(.*)$/.exec(minute) ?? [];
  return { year, month: withoutZero(month), day: withoutZero(day), time };
}

const withoutZero = (number: string): string => number.replace(/^0+/, '');
