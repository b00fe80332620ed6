import { moneyText } from '../../../trace/explain/costs.js';
import type { TraceRecordOf } from '../../../trace/record.js';
import type { Item, Story } from '../../story/story.js';
import { element } from '../element.js';
import { countText, timeText } from '../figures.js';

const NARROWEST = 9;

/** Creates the button that shows an item on the timeline. `width` is the available space in pixels. */
export function barOf(story: Story, item: Item, width: number): HTMLButtonElement {
  const { kind, mark, title, ms } = item;
  const isMoment = kind === 'decision' || kind === 'event' || kind === 'failure';
  const words = wordsOf(story, item);
  const name = [title, ...words, mark === 'fine' ? undefined : mark].filter(Boolean).join(', ');
  const bar = element('button', {
    class: `bar ${kind} ${mark}${isMoment ? ' moment' : ''}`,
    label: `${item.lane.group.agent}: ${name}`,
    title: name,
    attributes: { tabindex: '-1' },
  });
  if (isMoment) return bar;
  bar.style.width = `${Math.max(NARROWEST, width - 1)}px`;
  const shown = kind === 'turn' ? [title.replace('turn ', ''), ...words] : [ms === undefined ? '' : timeText(ms)];
  if (width > 44) bar.append(element('span', { text: shown.join(' · ') }));
  return bar;
}

/** Returns the duration, the tokens and the cost of an item, for display. Leaves out missing numbers. */
export function wordsOf(story: Story, item: Item): readonly string[] {
  const calls = item.kind === 'turn' ? callsIn(story, item) : callOf(story, item);
  const tokens = calls.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0);
  const costs = calls.flatMap(({ cost }) => cost ?? []);
  return [
    ...(item.ms === undefined ? [] : [timeText(item.ms)]),
    ...(tokens > 0 ? [`${countText(tokens)} tokens`] : []),
    ...(costs.length > 0 ? [moneyText(costs.reduce((sum, cost) => sum + cost, 0))] : []),
  ];
}

type ModelCall = TraceRecordOf<'model-call'>;

function callOf({ records }: Story, { to }: Item): readonly ModelCall[] {
  const record = records[to];
  return record?.type === 'model-call' ? [record] : [];
}

/** Returns the model calls of a turn, without the model calls of nested runs. */
function callsIn({ records }: Story, { from, to, runId }: Item): readonly ModelCall[] {
  return records
    .slice(from, to + 1)
    .flatMap((record) => (record.type === 'model-call' && record.runId === runId ? [record] : []));
}
