import { sizeOf } from '../../trace/explain/trace-index.js';
import type { TracedError, TraceRecord } from '../../trace/record.js';
import { jsonText } from '../story/conversation.js';
import { lineDiff } from '../story/line-diff.js';
import type { Item, Story } from '../story/story.js';
import { element, longText } from './element.js';
import { countText } from './figures.js';
import { wordsOf } from './time/bars.js';
import { sizesOf } from './time/context.js';

/** Creates the panel with the details of an item: its arguments, result, errors and records. */
export function detailsOf(story: Story, item: Item): HTMLElement {
  const { from, to, isOpen } = item;
  const last = isOpen ? from : to;
  const indices = from === last ? [last] : [last, from];
  const records = indices.flatMap((index) => {
    const record = story.records[index];
    return record !== undefined && (index === last || record.type === 'tool-start') ? [record] : [];
  });
  return element(
    'div',
    { class: 'detail' },
    headOf(story, item),
    ...records.flatMap(sectionsOf),
    ...records.map(rawOf),
  );
}

/** Creates the heading of the details, with the name, the agent and the numbers of an item. */
export function headOf(story: Story, item: Item): HTMLElement {
  const { agent } = item.lane.group;
  const where = [`agent ${agent}`, item.turn === undefined ? undefined : `turn ${item.turn}`, ...wordsOf(story, item)];
  return element(
    'header',
    {},
    element('h2', { text: item.title }),
    item.mark === 'fine' ? undefined : element('span', { class: `badge ${item.mark}`, text: item.mark }),
    element('p', { text: where.filter(Boolean).join(' · ') }),
  );
}

function sectionsOf(record: TraceRecord): readonly HTMLElement[] {
  switch (record.type) {
    case 'tool-start':
      return [section('Arguments', longText(jsonText(record.input, 2), 'json'))];
    case 'tool-end':
      return [
        ...(record.error === undefined ? [] : [errorOf(record.error)]),
        ...(record.result === undefined
          ? []
          : [section('Result', longText(jsonText(record.result.content, 2), 'json'))]),
      ];
    case 'run-error':
      return [errorOf(record.error)];
    case 'model-call':
      return [...(record.error === undefined ? [] : [errorOf(record.error)]), contextOf(record)];
    case 'decision': {
      const { reason, before, after } = record.decision;
      return [
        ...(reason === undefined ? [] : [section('Reason', longText(reason, 'text'))]),
        ...(before === undefined && after === undefined ? [] : [section('Change', diffOf(before, after))]),
      ];
    }
    case 'hook':
      return [section('Own time', element('p', { text: `${record.ownMs} ms of ${record.ms} ms` }))];
    case 'post':
      return [section('Message', longText(jsonText(record.message.content, 2), 'json'))];
    default:
      return [];
  }
}

function section(title: string, ...content: readonly HTMLElement[]): HTMLElement {
  return element('section', {}, element('h3', { text: title }), ...content);
}

function errorOf(error: TracedError): HTMLElement {
  const causes: HTMLElement[] = [];
  for (let one: TracedError | undefined = error; one !== undefined; one = one.cause) {
    const text = one.stack?.includes(one.message) ? one.stack : `${one.name}: ${one.message}`;
    causes.push(longText(causes.length === 0 ? text : `caused by ${text}`, 'stack'));
  }
  return section('Error', ...causes);
}

function contextOf(call: Extract<TraceRecord, { type: 'model-call' }>): HTMLElement {
  const total = sizeOf(call);
  const table = element('table', {});
  for (const [name, size] of sizesOf(call)) {
    const meter = element('i', {});
    meter.style.width = `${(100 * size) / Math.max(1, total)}%`;
    table.append(
      element(
        'tr',
        {},
        element('th', { text: name, attributes: { scope: 'row' } }),
        element('td', { text: countText(size) }),
        element('td', { class: 'meter' }, meter),
      ),
    );
  }
  const { usage } = call;
  const tokens =
    usage && `${usage.inputTokens} tokens in (${usage.cachedInputTokens ?? 0} from a cache), ${usage.outputTokens} out`;
  const title = `The model read ${countText(total)} characters`;
  return section(title, table, ...(tokens === undefined ? [] : [element('p', { text: tokens })]));
}

function diffOf(before: unknown, after: unknown): HTMLElement {
  const shown = (value: unknown) => (value === undefined ? '' : jsonText(value, 2).slice(0, 200_000));
  const lines = lineDiff(shown(before), shown(after)).filter(({ kind, text }) => text !== '' || kind === 'same');
  const signs = { same: ' ', gone: '−', new: '+' };
  return element(
    'pre',
    { class: 'diff' },
    ...lines.map(({ kind, text }) => element('span', { class: kind, text: `${signs[kind]} ${text}\n` })),
  );
}

function rawOf(record: TraceRecord): HTMLElement {
  const details = element('details', {}, element('summary', { text: `Record ${record.type}` }));
  details.addEventListener('toggle', () => {
    if (details.childElementCount === 1) details.append(longText(jsonText(record, 2), 'json'));
  });
  return details;
}
