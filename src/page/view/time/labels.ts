import type { Story } from '../../story/story.js';
import { element } from '../element.js';
import { timeText } from '../figures.js';
import type { Placement } from './placement.js';
import type { Row } from './rows.js';

/** Names a row. The name of an agent inside folds its rows. */
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

/** Returns the label that has replaced another one. */
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

/** The space of a time, in pixels. */
const TICK_WIDTH = 64;

/** Returns the times at which the turns of the outermost run begin, as far as they have room. */
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
