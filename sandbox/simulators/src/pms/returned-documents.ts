import { BoundedMap } from '@clinical-launch/conformance/recorder';

/** How a document arrived: sent to the page by the launched system, or posted to the callback address. */
export type ReturnChannel = 'page' | 'callback';

export type ReturnedDocument = {
  readonly launchId: string;
  readonly orderGuid: string;
  readonly document: string;
  /** The version of the order in the document, if known. */
  readonly orderVersion?: number;
  readonly ways: readonly ReturnChannel[];
};

/** The newest document of each order, even if documents arrive twice or out of order. */
export class ReturnedDocuments {
  readonly #ofOrders = new BoundedMap<ReturnedDocument>();

  /**
   * Files a document, or records that the filed document also arrived in this way. An older document changes
   * nothing.
   */
  file(came: Omit<ReturnedDocument, 'ways'>, way: ReturnChannel): void {
    const filed = this.#ofOrders.get(came.orderGuid);
    if (filed?.document === came.document) {
      const ways = filed.ways.includes(way) ? filed.ways : [...filed.ways, way];
      this.#ofOrders.set(came.orderGuid, { ...filed, ...came, ways });
    } else if (filed === undefined || !isOlder(came, filed)) {
      // The newest document is shown first, even if its order was already in the list.
      this.#ofOrders.delete(came.orderGuid);
      this.#ofOrders.set(came.orderGuid, { ...came, ways: [way] });
    }
  }

  /** Returns the documents of a launch, newest first. */
  ofLaunch(launchId: string): string[] {
    const ofLaunch = [...this.#ofOrders.values()].filter((filed) => filed.launchId === launchId);
    return ofLaunch.map(({ document }) => document).toReversed();
  }

  /**
   * Returns the documents of a patient, newest first. Finds the patient in the document, because a launch for
   * a whole practice returns requests of other patients.
   */
  of(nhsNumber: string): ReturnedDocument[] {
    return [...this.#ofOrders.values()]
      .filter(({ document }) => document.includes(`<nhsNumber>${nhsNumber}</nhsNumber>`))
      .toReversed();
  }
}

/** Compares the versions of two documents if both are known, and otherwise the times in the documents. */
function isOlder(came: Omit<ReturnedDocument, 'ways'>, filed: ReturnedDocument): boolean {
  if (came.orderVersion !== undefined && filed.orderVersion !== undefined)
    return came.orderVersion < filed.orderVersion;
  return lastChangeOf(came.document) < lastChangeOf(filed.document);
}

/** Returns the time of the last change as YYYYMMDDhhmmss, or an empty text if the document contains none. */
function lastChangeOf(xml: string): string {
  const times = [...xml.matchAll(/<LastStatusDate>(\d{14})</g)].map(([, time = '']) => time);
  return times.toSorted().at(-1) ?? '';
}
