import { Memory } from '../simulator.ts';

/** How a document came: offered to the page by the launched system, or posted to the callback address. */
export type Way = 'page' | 'callback';

export type ReturnedDocument = {
  readonly launchId: string;
  readonly orderGuid: string;
  readonly document: string;
  /** Which state of the order it shows, where that was told. */
  readonly orderVersion?: number;
  readonly ways: readonly Way[];
};

/** The order documents in the record: of each order the newest, whichever way and in whatever sequence they came. */
export class ReturnedDocuments {
  readonly #ofOrders = new Memory<ReturnedDocument>();

  /** Files a document, or notes that the one that is filed came this way too. An older one changes nothing. */
  file(came: Omit<ReturnedDocument, 'ways'>, way: Way): void {
    const filed = this.#ofOrders.get(came.orderGuid);
    if (filed?.document === came.document) {
      const ways = filed.ways.includes(way) ? filed.ways : [...filed.ways, way];
      this.#ofOrders.set(came.orderGuid, { ...filed, ...came, ways });
    } else if (filed === undefined || !isOlder(came, filed)) {
      // The newest is shown first, also where its order was there before.
      this.#ofOrders.delete(came.orderGuid);
      this.#ofOrders.set(came.orderGuid, { ...came, ways: [way] });
    }
  }

  /**
   * Those of a patient, the newest first. The document says whose it is: a launch for the whole practice returns
   * requests of other patients than the one whose record it was opened from.
   */
  of(nhsNumber: string): ReturnedDocument[] {
    return [...this.#ofOrders.values()]
      .filter(({ document }) => document.includes(`<nhsNumber>${nhsNumber}</nhsNumber>`))
      .toReversed();
  }
}

/** By the version where both tell theirs, otherwise by the times in the documents. */
function isOlder(came: Omit<ReturnedDocument, 'ways'>, filed: ReturnedDocument): boolean {
  if (came.orderVersion !== undefined && filed.orderVersion !== undefined)
    return came.orderVersion < filed.orderVersion;
  return lastChangeOf(came.document) < lastChangeOf(filed.document);
}

/** YYYYMMDDhhmmss; empty when the document has none. */
function lastChangeOf(xml: string): string {
  const times = [...xml.matchAll(/<LastStatusDate>(\d{14})</g)].map(([, time = '']) => time);
  return times.toSorted().at(-1) ?? '';
}
