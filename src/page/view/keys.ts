/** Functions that the keys call. */
export interface KeyActions {
  move(by: 1 | -1): void;
  nextFinding(by: 1 | -1): void;
  zoom(factor: number): void;
  toSearch(): void;
  isInTimeline(): boolean;
}

/**
 * Registers the keys of the page. Arrow keys move on the timeline, `n` and `p` go through the findings, `+` and `-`
 * zoom, and `/` focuses the search.
 */
export function onKeys(actions: KeyActions): void {
  const keys: Readonly<Record<string, () => void>> = {
    n: () => actions.nextFinding(1),
    p: () => actions.nextFinding(-1),
    '+': () => actions.zoom(1.5),
    '-': () => actions.zoom(1 / 1.5),
    '/': () => actions.toSearch(),
  };
  const arrows: Readonly<Record<string, 1 | -1>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
    const by = actions.isInTimeline() ? arrows[event.key] : undefined;
    const action = by === undefined ? keys[event.key] : () => actions.move(by);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
