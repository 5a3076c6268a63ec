import { Memory } from '../memory.ts';

/** How a document arrived: sent to the page by the launched system, or posted to the callback address. */
export type Way = 'page' | 'callback';

export type ReturnedDocument = {
  readonly launchId: string;
  readonly orderGuid: string;
  readonly document: string;
  /** The version of the order that it shows, if known. */
  readonly orderVersion?: number;
  readonly ways: readonly Way[];
};

/** The order documents in the record: the newest of each order, in whatever way and sequence they arrived. */
export class ReturnedDocuments {
  readonly #ofOrders = new Memory<ReturnedDocument>();

  /**
   * Files a document, or records that the filed document arrived in this way too. An older document changes
   * nothing.
   */
  file(came: Omit<ReturnedDocument, 'ways'>, way: Way): void {
    const filed = this.#ofOrders.get(came.orderGuid);
    if (filed?.document === came.document) {
      const ways = filed.ways.includes(way) ? filed.ways : [...filed.ways, way];
      this.#ofOrders.set(came.orderGuid, { ...filed, ...came, ways });
    } else if (filed === undefined || !isOlder(came, filed)) {
      // The newest is shown first, even if its order was already in the list.
      this.#ofOrders.delete(came.orderGuid);
      this.#ofOrders.set(came.orderGuid, { ...came, ways: [way] });
    }
  }

  /** Returns the documents of a launch, the newest first. */
  ofLaunch(launchId: string): string[] {
    const ofLaunch = [...this.#ofOrders.values()].filter((filed) => filed.launchId === launchId);
    return ofLaunch.map(({ document }) => document).toReversed();
  }

  /**
   * Returns those of a patient, the newest first. The document names its patient: a launch for the whole
   * practice returns requests of patients other than the open one.
   */
  of(nhsNumber: string): ReturnedDocument[] {
    return [...this.#ofOrders.values()]
      .filter(({ document }) => document.includes(`<nhsNumber>${nhsNumber}</nhsNumber>`))
      .toReversed();
  }
}

/** Compares versions if both documents have one, otherwise the times in the documents. */
function isOlder(came: Omit<ReturnedDocument, 'ways'>, filed: ReturnedDocument): boolean {
  if (came.orderVersion !== undefined && filed.orderVersion !== undefined)
    return came.orderVersion < filed.orderVersion;
  return lastChangeOf(came.document) < lastChangeOf(filed.document);
}

/** Returns YYYYMMDDhhmmss; empty if the document has none. */
function lastChangeOf(xml: string): string {
  const times = [...xml.matchAll(/<LastStatusDate>(\d{14})</g)].map(([, time = '']) => time);
  return times.toSorted().at(-1) ?? '';
}
