import type { Finding } from '../../trace/explain/finding.js';
import type { TraceRecord } from '../../trace/record.js';
import { buildStory } from '../story/build-story.js';
import { redPath } from '../story/red-path.js';
import type { Item, Story } from '../story/story.js';
import { Conversation } from './conversation.js';
import { detailsOf, headOf } from './details.js';
import { element } from './element.js';
import { Findings, findAgain } from './findings.js';
import { headerOf } from './header.js';
import { onKeys } from './keys.js';
import { type Filter, Search } from './search.js';
import { Timeline } from './time/timeline.js';
import { Toolbar } from './toolbar.js';

/** The web page that shows a trace: toolbar, findings, timeline, details and conversation. */
export class App {
  readonly toolbar: Toolbar;
  private readonly run = element('div', {});
  private readonly why = region('why', 'Findings');
  private readonly time = region('time', 'Run');
  private readonly details = region('details', 'Details');
  private readonly talk = region('talk', 'Conversation');
  private readonly findings = new Findings(this.why, {
    choose: (finding) => this.choose(finding),
    select: (item) => this.select(item),
  });
  private story: Story = buildStory([]);
  private timeline = new Timeline(this.story, () => {});
  private conversation = new Conversation(() => {});
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

  /**
   * Shows a trace. If it is a longer version of the previous one, keeps the selection, the folded rows, the scroll
   * position and the focus.
   */
  show(records: readonly TraceRecord[], isLonger = false): void {
    const earlier = isLonger ? this.selected : undefined;
    this.story = buildStory(records);
    this.finding = new Search(this.story, isLonger ? this.finding : undefined);
    this.run.replaceChildren(headerOf(this.story));
    const again = this.story.items.find(({ id }) => id === earlier?.id);
    if (earlier === undefined || again === undefined) this.open();
    else this.goOn(earlier, again);
    setTimeout(() => this.finding.prepare());
  }

  private open(): void {
    const select = (item: Item) => this.select(item);
    this.selected = undefined;
    this.timeline = new Timeline(this.story, select);
    this.conversation = new Conversation(select);
    this.conversation.show(this.story);
    this.time.replaceChildren(this.timeline.root);
    this.choose(this.story.findings[0]);
    this.toolbar.searchAgain();
    // Placed after the time line, whose measurements would otherwise wait for the layout of the conversation.
    this.talk.replaceChildren(this.conversation.root);
  }

  /**
   * Shows a longer version of the same trace. `earlier` is the selected item in the previous version, and `again` is
   * the same item in this one.
   */
  private goOn(earlier: Item, again: Item): void {
    const { story } = this;
    this.selected = again;
    this.timeline.update(story, again);
    this.lead(findAgain(story.findings, this.chosen) ?? story.findings[0]);
    this.conversation.show(story);
    this.conversation.mark(again);
    // The details of an item change only when it ends.
    if (earlier.isOpen === again.isOpen) this.details.querySelector('header')?.replaceWith(headOf(story, again));
    else this.details.replaceChildren(detailsOf(story, again));
    this.toolbar.searchAgain();
  }

  private choose(finding: Finding | undefined): void {
    const path = this.lead(finding);
    this.timeline.unfold(path);
    const shown = path.at(-1) ?? this.story.items[0];
    if (shown !== undefined) this.select(shown);
    else this.details.replaceChildren();
  }

  /** Marks a finding as selected, and draws the path to its cause. Returns the items of this path. */
  private lead(finding: Finding | undefined): readonly Item[] {
    this.chosen = finding;
    const path = finding === undefined ? [] : redPath(this.story, finding);
    this.findings.show(this.story, finding && { finding, path });
    this.timeline.lead(path);
    return path;
  }

  private select(item: Item): void {
    this.selected = item;
    this.timeline.mark(item);
    this.conversation.mark(item);
    this.conversation.reveal(item);
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
    this.timeline.focus();
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
