import type { Cause, Finding } from '../../trace/explain/finding.js';
import type { Item, Story } from '../story/story.js';
import { element } from './element.js';

const MOST = 100;

/** Functions that the list of findings calls when a person clicks on a finding or an item. */
export interface FindingActions {
  choose(finding: Finding): void;
  select(item: Item): void;
}

/** The selected finding, and the items from its effect to its cause. */
interface Choice {
  readonly finding: Finding;
  readonly path: readonly Item[];
}

/** The list of findings at the side of the page. */
export class Findings {
  private shown: readonly Finding[] = [];

  constructor(
    private readonly root: HTMLElement,
    private readonly actions: FindingActions,
  ) {}

  /**
   * Shows the list of findings, and below the selected one the items that lead to its cause. Keeps the focus on the
   * same finding or item.
   */
  show({ findings }: Story, choice: Choice | undefined): void {
    const { root, actions } = this;
    const active = document.activeElement;
    const row = [...root.querySelectorAll('.findings > li')].findIndex((one) => one.contains(active));
    const step = [...root.querySelectorAll('.step')].indexOf(active as Element);
    const focused = findAgain(findings, this.shown[row]);
    this.shown = findings;
    root.replaceChildren(listOf(findings, choice, actions));
    if (focused === undefined) return;
    const button = root.querySelectorAll<HTMLElement>('.finding')[findings.indexOf(focused)];
    (root.querySelectorAll<HTMLElement>('.step')[step] ?? button)?.focus({ preventScroll: true });
  }
}

/**
 * Finds the same finding in a longer version of the trace: a finding of the same kind, run and cause.
 *
 * The numbers in its text may differ. A finding about the whole run may also have other records.
 */
export function findAgain(findings: readonly Finding[], earlier: Finding | undefined): Finding | undefined {
  if (earlier === undefined) return undefined;
  const { kind, runId, by, records } = earlier;
  const same = findings.filter((one) => one.kind === kind && one.runId === runId && one.by?.name === by?.name);
  return same.find((one) => one.records.at(-1) === records.at(-1)) ?? same[0];
}

function listOf(findings: readonly Finding[], choice: Choice | undefined, actions: FindingActions): HTMLElement {
  if (findings.length === 0) return element('p', { class: 'calm', text: 'Nothing stands out in this run.' });
  const list = element('ul', { class: 'findings' });
  for (const finding of findings.slice(0, MOST)) {
    const isChosen = finding === choice?.finding;
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
    const way = isChosen ? wayOf(choice, actions) : undefined;
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

function wayOf({ path, finding: { by } }: Choice, { select }: FindingActions): HTMLElement | undefined {
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
