import type { Story } from '../../story/story.js';
import { element } from '../element.js';
import { timeText } from '../figures.js';
import type { Placement } from './placement.js';
import type { Row } from './rows.js';

/** Creates the label of a row. A click on the name of a nested agent folds its rows. */
export function labelOf({ lane, top, height }: Row, isFolded: boolean, onClick: () => void): HTMLElement {
  const { kind, name, group } = lane;
  const canFold = kind === 'turns' && group.depth > 0;
  const parts = { class: `label ${kind}`, title: `${kind}: ${name}` };
  const text = element('span', { text: name });
  const label = canFold
    ? element(
        'button',
        { ...parts, onClick, attributes: { 'aria-expanded': String(!isFolded), 'data-group': group.key } },
        text,
      )
    : element('div', parts, text);
  label.style.top = `${top}px`;
  label.style.height = `${height}px`;
  label.style.setProperty('--depth', String(group.depth));
  return label;
}

/** Returns the label that replaces another label after a redraw. */
export function labelAgain({ children }: HTMLElement, { dataset: { group } }: HTMLElement): HTMLElement | undefined {
  return group === undefined
    ? undefined
    : ([...children] as HTMLElement[]).find(({ dataset }) => dataset.group === group);
}

/** Returns the background of a row. */
export function stripeOf({ lane, top, height }: Row): HTMLElement {
  const stripe = element('div', { class: `stripe ${lane.kind}` });
  stripe.style.top = `${top}px`;
  stripe.style.height = `${height}px`;
  return stripe;
}

/** The minimum space for a time on the axis, in pixels. */
const TICK_WIDTH = 64;

/** Returns the start times of the outermost run's turns that fit on the axis. */
export function ticksOf({ records, groups }: Story, placement: Placement): readonly HTMLElement[] {
  const start = records[0]?.at ?? 0;
  const turns = groups[0]?.lanes[0]?.items.filter(({ kind }) => kind === 'turn') ?? [];
  let end = Number.NEGATIVE_INFINITY;
  return turns.flatMap(({ from }) => {
    const x = placement.x(from);
    if (x < end) return [];
    end = x + TICK_WIDTH;
    const tick = element('span', { class: 'tick', text: timeText((records[from]?.at ?? start) - start) });
    tick.style.left = `${x}px`;
    return [tick];
  });
}
