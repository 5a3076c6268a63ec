// The chips above the catalogue, each of which chooses a test with one click.

/**
 * Makes each line of chips a single tab stop, in which the arrow keys move the focus (WAI-ARIA Authoring
 * Practices, toolbar). Returns functions that update the chips from the server's responses.
 */
export function keepShortcutsInStep(places) {
  const inSteps = places.map(keepInStep);
  return {
    press: (chosen) => inSteps.forEach(({ press }) => press(chosen)),
    renew: (answer) => inSteps.forEach(({ renew }) => renew(answer)),
  };
}

function keepInStep(place) {
  place.addEventListener('keydown', (event) => {
    const chips = chipsAround(event.target);
    const from = chips.indexOf(event.target);
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: -1 }[event.key];
    if (from === -1 || to === undefined) return;
    event.preventDefault();
    chips.at(to % chips.length).focus();
  });
  place.addEventListener('focusin', ({ target }) => makeStop(target));
  makeFirstStop();
  return { press, renew };

  /** Shows on the chips which tests are chosen. */
  function press(chosen) {
    for (const chip of place.querySelectorAll('[data-chip]')) {
      const isChosen = chosen.has(chip.dataset.chip);
      chip.setAttribute('aria-pressed', String(isChosen));
      chip.value = `${isChosen ? 'remove' : 'add'}:${chip.dataset.chip}`;
    }
  }

  /** Replaces the chips with the chips of a response, if the response contains any. */
  function renew(answer) {
    const template = answer.querySelector(`template[data-shortcuts="${place.id}"]`);
    if (!template) return;
    place.replaceChildren(template.content);
    template.remove();
    makeFirstStop();
  }

  function makeFirstStop() {
    const first = place.querySelector('[role="toolbar"] button');
    if (first) makeStop(first);
  }
}

function chipsAround(element) {
  return [...(element.closest('[role="toolbar"]')?.querySelectorAll('button') ?? [])];
}

function makeStop(stop) {
  for (const chip of chipsAround(stop)) chip.tabIndex = chip === stop ? 0 : -1;
}
