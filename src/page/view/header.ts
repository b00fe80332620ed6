import { moneyText } from '../../trace/explain/costs.js';
import type { Story } from '../story/story.js';
import { element } from './element.js';
import { countText, timeText } from './figures.js';

/** Creates the heading of the page: the name of the agent, the status of the run, and its numbers. */
export function headerOf({ records }: Story): HTMLElement {
  const [first] = records;
  const runId = first?.runId;
  const start = records.find((record) => record.type === 'run-start');
  const ends = records.filter((record) => record.runId === runId);
  const end = ends.find((record) => record.type === 'run-end');
  const isFailed = ends.some((record) => record.type === 'run-error');
  const status = isFailed ? 'failed' : (end?.type === 'run-end' && end.result?.status) || 'running';
  const calls = records.flatMap((record) => (record.type === 'model-call' ? [record] : []));
  const tokens = calls.reduce((sum, { usage }) => sum + (usage?.totalTokens ?? 0), 0);
  const costs = calls.flatMap(({ cost }) => cost ?? []);
  const turns = ends.filter(({ type }) => type === 'turn-start').length;
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['time', timeText((records.at(-1)?.at ?? 0) - (first?.at ?? 0))],
    ['turns', String(turns)],
    ['model calls', String(calls.length)],
    ['tokens', countText(tokens)],
    ...(costs.length > 0 ? [['cost', moneyText(costs.reduce((sum, cost) => sum + cost, 0))] as const] : []),
  ];
  const [day = '', time = ''] = new Date(first?.at ?? 0).toISOString().split('T');
  return element(
    'div',
    { class: 'run' },
    element('h1', { text: start?.type === 'run-start' ? start.agent : 'Trace' }),
    element('span', { class: `status ${status}`, text: status }),
    element('dl', {}, ...facts.map(([name, value]) => fact(name, value))),
    element('span', { class: 'when', text: `${time.slice(0, 8)} UTC`, title: day }),
  );
}

function fact(name: string, value: string): HTMLElement {
  return element('div', {}, element('dt', { text: name }), element('dd', { text: value }));
}
