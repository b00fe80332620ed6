import type { Story } from '../../story/story.js';
import { element } from '../element.js';
import { timeText } from '../figures.js';
import type { Placement } from './placement.js';
import type { Row } from './rows.js';

/** Creates the label of a row of the timeline. A click on the label of a nested agent folds or unfolds its rows. */
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

/** Finds the label of the same group among the labels that were drawn again. */
export function labelAgain({ children }: HTMLElement, { dataset: { group } }: HTMLElement): HTMLElement | undefined {
  return group === undefined
    ? undefined
    : ([...children] as HTMLElement[]).find(({ dataset }) => dataset.group === group);
}

/** Creates the background of a row of the timeline. */
export function stripeOf({ lane, top, height }: Row): HTMLElement {
  const stripe = element('div', { class: `stripe ${lane.kind}` });
  stripe.style.top = `${top}px`;
  stripe.style.height = `${height}px`;
  return stripe;
}

/** The minimum width of a time label on the time axis, in pixels. */
const TICK_WIDTH = 64;

/** Creates the labels of the time axis: the start of each turn of the outermost run, if there is enough space. */
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
