import { open } from 'node:fs/promises';

/** The purpose of a request. Steps with `again` are repetitions that must be refused. */
export type Step =
  | 'token'
  | 'issue'
  | 'issue again'
  | 'issue amendment'
  | 'redeem'
  | 'redeem again'
  | 'choose'
  | 'review'
  | 'submit'
  | 'samples'
  | 'record'
  | 'result'
  | 'document';

/**
 * `ok`: a correct status. `unavailable`: 503 with `Retry-After`. `lost`: no answer. `late`: 401 for a launch
 * token that may have expired. `wrong`: everything else.
 */
export type Outcome = 'ok' | 'unavailable' | 'lost' | 'late' | 'wrong';

export type Sent = { readonly id: string; readonly sent: number };

export type Answered = {
  readonly id: string;
  readonly outcome: Outcome;
  readonly step: Step;
  /** The caller's identifier of the launch. */
  readonly launch: string;
  readonly status?: number;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  readonly ms: number;
  readonly correlationId?: string;
  /** The GUID and version of the accepted or displayed order. */
  readonly order?: string;
};

export type Journal = {
  /** Resolves when the entry is on disk. */
  append(entry: Sent | Answered): Promise<void>;
  close(): Promise<void>;
};

/** Opens an append-only journal. Entries that arrive together are flushed together. */
export async function openJournal(path: string): Promise<Journal> {
  const file = await open(path, 'a');
  const waiting: string[] = [];
  let flushing = Promise.resolve();

  const flush = async () => {
    const lines = waiting.splice(0).join('');
    if (lines === '') return;
    await file.appendFile(lines);
    await file.datasync();
  };
  return {
    append(entry) {
      waiting.push(`${JSON.stringify(entry)}\n`);
      flushing = flushing.then(flush);
      return flushing;
    },
    async close() {
      await flushing;
      await file.close();
    },
  };
}
