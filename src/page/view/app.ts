import type { Finding } from '../../trace/explain/finding.js';
import type { TraceRecord } from '../../trace/record.js';
import { redPath } from '../story/red-path.js';
import type { Item, Story } from '../story/story.js';
import { tell } from '../story/tell.js';
import { Conversation } from './conversation.js';
import { detailsOf } from './details.js';
import { element } from './element.js';
import { findingsOf } from './findings.js';
import { headerOf } from './header.js';
import { onKeys } from './keys.js';
import { type Filter, Search } from './search.js';
import { Timeline } from './time/timeline.js';
import { Toolbar } from './toolbar.js';

/** The page of one trace. */
export class App {
  readonly toolbar: Toolbar;
  private readonly run = element('div', {});
  private readonly why = region('why', 'Findings');
  private readonly time = region('time', 'Run');
  private readonly details = region('details', 'Details');
  private readonly talk = region('talk', 'Conversation');
  private story: Story = tell([]);
  private timeline = new Timeline(this.story, () => {});
  private conversation = new Conversation(this.story, () => {});
  private finding = new Search(this.story);
  private chosen: Finding | undefined;
  private selected: Item | undefined;

  constructor(body: HTMLElement) {
    this.toolbar = new Toolbar({
      search: (query, filter) => this.search(query, filter),
      zoom: (factor) => this.timeline.zoomBy(factor),
    });
    body.append(
      element('header', { class: 'top' }, this.run, this.toolbar.root),
      element('main', {}, this.why, this.time, this.details, this.talk),
    );
    addEventListener('resize', () => this.timeline.arrange());
    onKeys({
      move: (by) => this.move(by),
      nextFinding: (by) => this.nextFinding(by),
      zoom: (factor) => this.timeline.zoomBy(factor),
      toSearch: () => this.toolbar.focus(),
      isInTimeline: () => this.timeline.root.contains(document.activeElement),
    });
  }

  /** Shows a trace. If it is a longer version of the same trace, keeps what a person has chosen, unfolded and scrolled to. */
  show(records: readonly TraceRecord[]): void {
    const isSame = records[0]?.runId === this.story.records[0]?.runId;
    const select = (item: Item) => this.select(item);
    const earlier = isSame ? this.selected : undefined;
    const hadFocus = this.timeline.root.contains(document.activeElement);
    const scrolled = [this.timeline.root, this.details, this.talk].map(
      (root): Place => [root.scrollLeft, root.scrollTop],
    );
    this.story = tell(records);
    this.timeline = new Timeline(this.story, select, isSame ? this.timeline : undefined);
    this.conversation = new Conversation(this.story, select, isSame ? this.conversation : undefined);
    this.finding = new Search(this.story);
    this.selected = undefined;
    this.run.replaceChildren(headerOf(this.story));
    this.time.replaceChildren(this.timeline.root);
    this.choose(this.story.findings.find((finding) => isSameFinding(finding, this.chosen)) ?? this.story.findings[0]);
    const again = earlier && this.story.itemOf.get(earlier.from);
    if (again !== undefined) this.select(again);
    this.toolbar.searchAgain();
    // Behind the time line, whose measures would otherwise wait for the layout of the conversation.
    this.talk.replaceChildren(this.conversation.root);
    if (isSame) {
      const roots = [this.timeline.root, this.details, this.talk];
      for (const [index, root] of roots.entries()) root.scrollTo(...(scrolled[index] as Place));
      if (hadFocus && this.selected !== undefined) this.timeline.focus(this.selected);
    }
    setTimeout(() => this.finding.prepare());
  }

  private choose(finding: Finding | undefined): void {
    this.chosen = finding;
    const path = finding === undefined ? [] : redPath(this.story, finding);
    const actions = { choose: (one: Finding) => this.choose(one), select: (item: Item) => this.select(item) };
    this.why.replaceChildren(findingsOf(this.story, finding, actions));
    this.timeline.lead(path);
    const shown = path.at(-1) ?? this.story.items[0];
    if (shown !== undefined) this.select(shown);
    else this.details.replaceChildren();
  }

  private select(item: Item): void {
    this.selected = item;
    this.timeline.mark(item);
    this.conversation.unfold(item);
    this.conversation.mark(item);
    this.details.replaceChildren(detailsOf(this.story, item));
    this.details.scrollTop = 0;
  }

  private search(query: string, filter: Filter): void {
    performance.mark('search');
    const found = this.finding.find(query, filter);
    this.timeline.show(found);
    this.conversation.search(query);
    this.toolbar.say(found === undefined ? '' : `${found.size} of ${this.story.items.length}`);
    performance.measure('filter', 'search');
  }

  private move(by: 1 | -1): void {
    const { visible } = this.timeline;
    const index = this.selected === undefined ? -1 : visible.indexOf(this.selected);
    const next = visible[Math.min(visible.length - 1, Math.max(0, index + by))];
    if (next === undefined) return;
    this.select(next);
    this.timeline.focus(next);
  }

  private nextFinding(by: 1 | -1): void {
    const { findings } = this.story;
    const index = this.chosen === undefined ? -1 : findings.indexOf(this.chosen);
    const next = findings[(index + by + findings.length) % Math.max(1, findings.length)];
    if (next !== undefined) this.choose(next);
  }
}

function region(name: string, label: string): HTMLElement {
  return element('section', { class: name, label, attributes: { tabindex: '-1' } });
}

type Place = [left: number, top: number];

/** True for two findings about the same part. Their texts may have other numbers, because a run goes on. */
function isSameFinding(a: Finding, b: Finding | undefined): boolean {
  return b !== undefined && a.kind === b.kind && a.runId === b.runId && a.by?.name === b.by?.name;
}
