import { shownIdentifier } from '@clinical-launch/contracts/coded-identifiers';
import { plainText } from '../play/browser.ts';
import { shownDate } from '../shown-patient.ts';

const statuses: Readonly<Record<string, string>> = { R: 'Requested', S: 'Sample taken', D: 'Removed' };

/** Returns the content of an order document in the form that the record page shows. */
export function shownOrder(xml: string) {
  const [patient, requestor] = [inside(xml, 'patient'), inside(xml, 'requestor')];
  return {
    xml,
    guid: textOf(inside(xml, 'orderHeader'), 'guid'),
    patient: nameIn(patient),
    born: dayOf(textOf(patient, 'dateOfBirth')),
    nhsNumber: shownIdentifier({ system: 'nhs-number', value: textOf(patient, 'nhsNumber') }),
    requester: nameIn(requestor),
    requestedAt: timeOf(textOf(xml, 'timeofRequest')),
    batches: all(xml, 'orderBatch').map(shownBatch),
  };
}

function shownBatch(batch: string) {
  const tests = all(batch, 'testOrder');
  const outsideTests = tests.reduce((text, test) => text.replace(test, ''), batch);
  const samples = new Map(
    all(outsideTests, 'sample').map((sample) => [textOf(sample, 'refid'), textOf(sample, 'description')]),
  );
  return {
    reference: textOf(batch, 'orderReference'),
    laboratory: textOf(inside(batch, 'Provider'), 'name'),
    tests: tests.map((test) => ({
      name: textOf(test, 'testDescription'),
      code: textOf(inside(test, 'code'), 'value'),
      sample: samples.get(textOf(inside(test, 'sample'), 'refid')) || 'No sample',
      status: statuses[textOf(test, 'Status')] ?? textOf(test, 'Status'),
    })),
  };
}

function nameIn(person: string) {
  const given = textOf(person, 'firstNames');
  return {
    family: textOf(person, 'familyName'),
    given: given === '' ? [] : [given],
    title: textOf(person, 'title'),
  };
}

/**
 * Returns the content of every element with a name. No such element contains another element with the same
 * name.
 */
function all(xml: string, name: string): string[] {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const contents: string[] = [];
  // Uses no regular expression, so that no document can make the search slow.
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end < 0) break;
    contents.push(xml.slice(at + open.length, end));
    at = end;
  }
  return contents;
}

const inside = (xml: string, name: string): string => all(xml, name)[0] ?? '';

const textOf = (xml: string, name: string): string => plainText(inside(xml, name));

const dayOf = (text: string): string =>
  shownDate([text.slice(0, 4), text.slice(4, 6), text.slice(6, 8)].join('-'));

const timeOf = (text: string): string => `${dayOf(text)} at ${text.slice(8, 10)}:${text.slice(10, 12)}`;
