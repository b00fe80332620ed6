import type { Cause, Finding } from '../../trace/explain/finding.js';
import { redPath } from '../story/red-path.js';
import type { Item, Story } from '../story/story.js';
import { element } from './element.js';

const MOST = 100;

/** Callbacks of the list. */
export interface FindingActions {
  choose(finding: Finding): void;
  select(item: Item): void;
}

/** Shows what went wrong, and the way from the chosen finding to its cause. */
export function findingsOf(story: Story, chosen: Finding | undefined, actions: FindingActions): HTMLElement {
  const { findings } = story;
  if (findings.length === 0) return element('p', { class: 'calm', text: 'Nothing stands out in this run.' });
  const list = element('ul', { class: 'findings' });
  for (const finding of findings.slice(0, MOST)) {
    const isChosen = finding === chosen;
    const { kind, text, by } = finding;
    const button = element(
      'button',
      {
        class: `finding ${LEVELS[kind]}`,
        attributes: { 'aria-pressed': String(isChosen) },
        onClick: () => actions.choose(finding),
      },
      element('span', { class: 'kind', text: KINDS[kind] }),
      element('span', { class: 'says', text }),
      by && causeOf(by),
    );
    const way = isChosen ? wayOf(redPath(story, finding), finding, actions) : undefined;
    list.append(element('li', {}, button, way));
  }
  const rest = findings.length - MOST;
  if (rest > 0) list.append(element('li', { class: 'rest', text: `${rest} more` }));
  return list;
}

function causeOf({ kind, name }: Cause): HTMLElement {
  const label = element('span', { class: 'cause' });
  label.append(element('span', { text: `caused by ${kind}` }), ' ', element('strong', { text: name }));
  return label;
}

function wayOf(path: readonly Item[], { by }: Finding, { select }: FindingActions): HTMLElement | undefined {
  if (path.length === 0) return undefined;
  const steps = path.map((item, index) => {
    const isCause = index === path.length - 1 && by !== undefined;
    const text = `${item.lane.group.agent}: ${item.title}`;
    const step = element('button', { class: isCause ? 'step is-cause' : 'step', text, onClick: () => select(item) });
    return element('li', {}, step);
  });
  return element('ol', { class: 'way', label: 'The way to the cause' }, ...steps);
}

type Kind = Finding['kind'];

const KINDS: Readonly<Record<Kind, string>> = {
  failure: 'Failure',
  'failed-call': 'Failed call',
  'denied-call': 'Denied call',
  server: 'Server',
  'cache-miss': 'Cache miss',
  context: 'Context',
  'slow-turn': 'Slow turn',
  tokens: 'Tokens',
};

const LEVELS: Readonly<Record<Kind, 'bad' | 'odd' | 'costly'>> = {
  failure: 'bad',
  'failed-call': 'bad',
  'denied-call': 'odd',
  server: 'odd',
  'cache-miss': 'odd',
  context: 'costly',
  'slow-turn': 'costly',
  tokens: 'costly',
};
