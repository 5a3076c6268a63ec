import { maxSearchLength } from '../domain/choice.ts';
import { withoutControls } from '../domain/draft.ts';
import { type ListFilters, type ListSearch, recentDays } from '../domain/list-search.ts';
import type { Priority } from '../domain/test-request.ts';
import { faultyForm } from '../errors.ts';

const priorities = { urgent: true, routine: true } as const satisfies Record<Priority, true>;
const statuses = {
  Incomplete: true,
  Complete: true,
  overdue: true,
  elsewhere: true,
} as const satisfies Record<NonNullable<ListFilters['status']>, true>;

/** The maximum length of a filter. Every code that a page offers is shorter. */
const maxChoiceLength = 400;

/**
 * Reads the search of a list.
 * @throws ServiceError 400 for a form that no page sends
 */
export function readListForm(form: URLSearchParams): ListSearch {
  const action = form.get('action') ?? 'search';
  if (action === 'clear') return { text: '', filters: {} };
  if (action !== 'search') throw faultyForm();
  const text = line(form, 'q').replace(/\s+/g, ' ').trim().slice(0, maxSearchLength);
  const priority = choiceOf(form, 'priority', priorities);
  return { text, ...(priority && { priority }), filters: readFilters(form) };
}

function readFilters(form: URLSearchParams): ListFilters {
  const day = choiceOf(form, 'day', recentDays);
  const status = choiceOf(form, 'status', statuses);
  const typed = (name: 'from' | 'to' | 'test' | 'laboratory' | 'requester') => {
    const value = line(form, name).trim();
    if (value.length > maxChoiceLength) throw faultyForm();
    return value === '' ? {} : { [name]: value };
  };
  return {
    ...(day === undefined ? { ...typed('from'), ...typed('to') } : { day }),
    ...typed('test'),
    ...(status && { status }),
    ...typed('laboratory'),
    ...typed('requester'),
  };
}

const line = (form: URLSearchParams, name: string) => withoutControls(form.get(name) ?? '');

/** Reads an option of a list box. Returns undefined for "any", or if the form does not contain the field. */
function choiceOf<Choice extends string>(
  form: URLSearchParams,
  name: string,
  choices: Readonly<Record<Choice, unknown>>,
): Choice | undefined {
  const value = form.get(name) ?? 'any';
  if (value === 'any' || value === '') return undefined;
  if (!isChoice(value, choices)) throw faultyForm();
  return value;
}

const isChoice = <Choice extends string>(
  value: string,
  choices: Readonly<Record<Choice, unknown>>,
): value is Choice => Object.hasOwn(choices, value);
