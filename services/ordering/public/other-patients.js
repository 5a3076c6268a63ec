// Shows a warning if another window of the browser shows another patient. The windows exchange their banners
// within the browser, and do not store them.

/** A window that does not reply within this time is regarded as closed. */
const answerMs = 1000;

/**
 * Shows a warning in `line` while another window of this browser shows the banner of another patient. Keeps a
 * warning that the page already contains.
 */
export function watchOtherPatients(line, banner) {
  const windows = new BroadcastChannel('open patients');
  const own = `${performance.timeOrigin} ${Math.random()}`;
  const warning = line.textContent;
  const patient = banner.textContent.replace(/\s+/g, ' ');
  /** For each other window, its patient and the time of its last message. */
  const others = new Map();

  windows.addEventListener('message', ({ data }) => {
    if (data.patient === undefined) others.delete(data.id);
    else others.set(data.id, { patient: data.patient, at: performance.now() });
    // The end of the session removes the banner, and then this window no longer replies.
    if (data.isQuestion && banner.isConnected) windows.postMessage({ id: own, patient });
    show();
  });
  addEventListener('pagehide', () => windows.postMessage({ id: own }));
  addEventListener('pageshow', ask);
  document.addEventListener('visibilitychange', () => document.hidden || ask());
  ask();

  function ask() {
    if (!banner.isConnected) return;
    const askedAt = performance.now();
    windows.postMessage({ id: own, patient, isQuestion: true });
    setTimeout(() => {
      for (const [id, { at }] of others) if (at < askedAt) others.delete(id);
      show();
    }, answerMs);
  }

  function show() {
    const isOther = [...others.values()].some((other) => other.patient !== patient);
    const text = warning || (isOther ? 'Another patient is open in another window.' : '');
    if (line.textContent !== text) line.textContent = text;
  }
}
