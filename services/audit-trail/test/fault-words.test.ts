import { readFileSync } from 'node:fs';
import { eventCatalogue } from '@clinical-launch/contracts/events/catalogue';
import { refusalCodes } from '@clinical-launch/contracts/refusal-codes';
import { describe, expect, it } from '@jest/globals';
import { whatHappened } from '../src/domain/event-words.ts';
import { faultWordsOf } from '../src/domain/fault-words.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** Returns the first groups of a pattern in what a source has between two texts. */
function wordsIn(path: string, [from, to]: readonly [string, string], pattern: RegExp): string[] {
  const [, ...rest] = read(path).split(from);
  const [part = ''] = rest.join(from).split(to);
  return [...part.matchAll(pattern)].map(([, word = '']) => word);
}

const members = /^ {2}(\w+):/gm;
const union = /^ {2}\| '(\w+)'/gm;

/** Where the services list the reasons that their events may have. */
const lists: Readonly<Record<string, readonly string[]>> = {
  'refused requests': refusalCodes,
  'refused tokens': wordsIn(
    'services/identity-provider/src/errors.ts',
    ['const refusals = {', '} as const'],
    members,
  ),
  'refused authorization requests': wordsIn(
    'services/identity-provider/src/authorize-errors.ts',
    ['const launchRefusals = {', '} as const'],
    members,
  ),
  'failed requests of ours': wordsIn(
    'libs/http/src/outbound-error.ts',
    ['export type OutboundFailure =', ';'],
    union,
  ).filter((word) => word !== 'interrupted'),
  'failed deliveries': wordsIn(
    'libs/deliveries/src/delivery-retry.ts',
    ['export type DeliveryFailure =', ';'],
    union,
  ),
  'failed documents': wordsIn(
    'services/order-renderer/src/delivery/deliver.ts',
    ['export type Attempt =', ';'],
    /'(\w+)'/g,
  ),
  'ended launches': wordsIn(
    'libs/contracts/src/events/catalogue.ts',
    ["'desktop.chain.revoked.v1'", '}),'],
    /^ {6}'(\w+)',/gm,
  ),
};

describe('the words of the pages', () => {
  it.each(Object.entries(lists))('explain every reason of %s, and say what to do', (_list, reasons) => {
    expect(reasons.length).toBeGreaterThan(0);
    expect(reasons.filter((reason) => faultWordsOf(reason) === undefined)).toEqual([]);
    const sentences = reasons.flatMap((reason) => Object.values(faultWordsOf(reason) ?? {}));
    expect(sentences.filter((sentence) => !/^[A-Z][^]*[.]$/.test(sentence))).toEqual([]);
  });

  it('describe every event', () => {
    expect(Object.keys(eventCatalogue).filter((type) => whatHappened(type) === type)).toEqual([]);
  });
});
