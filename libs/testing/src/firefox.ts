import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser } from 'playwright-core';
import { waitsForPages } from './chromium.ts';

const places = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];

/** Limits the processes of Firefox and their memory. With the defaults, they take a gigabyte. */
const frugal = {
  'browser.sessionhistory.max_total_viewers': 0,
  'dom.ipc.processCount': 1,
  'dom.ipc.processPrelaunch.enabled': false,
  'fission.autostart': false,
  'javascript.options.ion': false,
  'javascript.options.mem.gc_allocation_threshold_mb': 4,
  'javascript.options.mem.gc_balanced_heap_limits': false,
  'javascript.options.mem.gc_high_frequency_large_heap_growth': 110,
  'javascript.options.mem.gc_high_frequency_small_heap_growth': 130,
  'javascript.options.mem.gc_low_frequency_heap_growth': 110,
  'javascript.options.mem.nursery.max_kb': 2048,
};

/**
 * Starts the Firefox of this machine, or the program of `FIREFOX_PATH`, with WebDriver BiDi. Its pages wait
 * for up to `waitLimitMs`.
 * @throws Error that names the package to install if there is no Firefox. A browser test is never skipped
 */
export async function startFirefox(): Promise<Browser> {
  const executablePath = process.env.FIREFOX_PATH ?? places.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error(
      'The browser tests need Firefox. Install firefox-esr, or set FIREFOX_PATH to its program',
    );
  }
  answerMediaFeatures();
  const { firefox } = await import('playwright-core');
  // With this channel, Playwright controls a released Firefox instead of Playwright's own build.
  return waitsForPages(
    await firefox.launch({ channel: 'moz-firefox', executablePath, firefoxUserPrefs: frugal }),
  );
}

type WebSocket = {
  send: (this: WebSocket, text: unknown, ...others: unknown[]) => void;
  emit(event: 'message', text: Buffer, isBinary: boolean): void;
};

let isAnswered = false;

/**
 * Answers `emulation.setMediaFeaturesOverride` in place of Firefox. Playwright sends it for each context, to
 * emulate the light color scheme, which is the default. Firefox ESR does not support the command yet.
 */
function answerMediaFeatures(): void {
  if (isAnswered) return;
  isAnswered = true;
  const { ws } = createRequire(import.meta.url)('playwright-core/lib/utilsBundle') as {
    ws: { prototype: WebSocket };
  };
  const { send } = ws.prototype;
  ws.prototype.send = function answering(this: WebSocket, text, ...others) {
    const isUnknown = typeof text === 'string' && text.includes('"emulation.setMediaFeaturesOverride"');
    if (!isUnknown) return send.call(this, text, ...others);
    const { id } = JSON.parse(text) as { id: number };
    this.emit('message', Buffer.from(JSON.stringify({ type: 'success', id, result: {} })), false);
  };
}
