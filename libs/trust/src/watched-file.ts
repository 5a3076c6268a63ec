import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { startLoop } from '@clinical-launch/runtime/loop';

type WatchOptions<Content> = {
  /** Reads the text of the file. @throws Error when the content is invalid */
  readonly parse: (text: string) => Content;
  /** Called with each content that took effect after the first. */
  readonly onChange: (content: Content) => void;
  /** Called once for each invalid text. The previous content stays in use. */
  readonly onFault: (error: unknown) => void;
  readonly everyMs?: number;
};

/** The current content of a file. `stop` ends the polling and leaves the last content in effect. */
export type WatchedFile<Content> = { readonly current: () => Content; stop(): void };

/**
 * Reads a file and polls it for changes. A new text takes effect if it is valid and was read twice, so that a
 * file is never used while it is being written. Compares the text, because mounted and copied files keep
 * their times.
 * @throws Error when the file cannot be read or its first content is invalid
 */
export function watchFile<Content>(
  path: string | URL,
  { parse, onChange, onFault, everyMs = 2000 }: WatchOptions<Content>,
): WatchedFile<Content> {
  let judged = readFileSync(path, 'utf8');
  let current = parse(judged);
  let seen = judged;

  const judge = (text: string) => {
    judged = text;
    try {
      current = parse(text);
    } catch (error) {
      return onFault(error);
    }
    onChange(current);
  };
  const look = async (stopping: AbortSignal) => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => error);
    if (stopping.aborted) return;
    // Reports a missing file once, as it does an invalid one.
    const now = typeof text === 'string' ? text : String(text);
    if (now !== judged && now === seen) {
      if (typeof text === 'string') judge(text);
      else {
        judged = now;
        onFault(text);
      }
    }
    seen = now;
  };
  const loop = startLoop({ work: look, everyMs, ref: false, onFailure: onFault });
  return { current: () => current, stop: () => void loop.stop() };
}
