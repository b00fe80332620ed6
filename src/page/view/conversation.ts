import { type Block, conversationOf } from '../story/conversation.js';
import type { Item, Story } from '../story/story.js';
import { element, longText } from './element.js';

/** The conversation beside the time line. Runs inside of a tool call are folded. */
export class Conversation {
  readonly root = element('div', { class: 'blocks' });
  private readonly blocks: readonly Block[];
  private readonly articles: readonly HTMLElement[];
  private readonly texts: string[] = [];
  private readonly opened = new Set<string>();
  private query = '';

  constructor(
    private readonly story: Story,
    private readonly select: (item: Item) => void,
    earlier?: Conversation,
  ) {
    for (const runId of earlier?.opened ?? []) this.opened.add(runId);
    this.blocks = conversationOf(story);
    this.articles = this.blocks.map((block) => this.articleOf(block));
    this.root.append(...this.articles);
    this.arrange();
  }

  /** Shows only the blocks that contain the text. */
  search(query: string): void {
    this.query = query;
    this.arrange();
  }

  /** Marks the blocks of an item, and scrolls to the first. */
  mark(item: Item): void {
    let first: HTMLElement | undefined;
    this.blocks.forEach((block, index) => {
      const article = this.articles[index];
      const isMarked = block.item === item;
      article?.classList.toggle('marked', isMarked);
      if (isMarked && !article?.hidden) first ??= article;
    });
    if (first !== undefined) scrollTo(first);
  }

  /** Unfolds the runs around an item. */
  unfold(item: Item): void {
    for (let runId = item.runId; !this.opened.has(runId); ) {
      this.opened.add(runId);
      const caller = this.story.callers.get(runId);
      if (caller === undefined) break;
      runId = caller.runId;
    }
    this.arrange();
  }

  private arrange(): void {
    const { query, opened, story } = this;
    this.blocks.forEach(({ runId }, index) => {
      const article = this.articles[index];
      if (article === undefined) return;
      const isShown = query === '' ? this.isUnfolded(runId) : this.textAt(index).includes(query);
      if (article.hidden === isShown) article.hidden = !isShown;
    });
    for (const button of this.root.querySelectorAll<HTMLElement>('.inside')) {
      button.setAttribute('aria-expanded', String(opened.has(button.dataset.run ?? '')));
    }
    this.root.classList.toggle('is-empty', story.records.length === 0);
  }

  private isUnfolded(runId: string): boolean {
    const caller = this.story.callers.get(runId);
    return caller === undefined || (this.opened.has(runId) && this.isUnfolded(caller.runId));
  }

  private textAt(index: number): string {
    const { who = '', text = '', input = '' } = this.blocks[index] ?? {};
    this.texts[index] ??= `${who}\n${input.slice(0, 50_000)}\n${text.slice(0, 50_000)}`.toLowerCase();
    return this.texts[index] ?? '';
  }

  private articleOf(block: Block): HTMLElement {
    const { role, who, text, input, mark, depth, item } = block;
    const head = element('header', {}, element('span', { class: 'who', text: who }));
    if (input !== undefined) head.append(element('code', { text: input.slice(0, 200) }));
    if (mark !== 'fine') head.append(element('span', { class: `badge ${mark}`, text: mark }));
    const onClick = item && (() => this.select(item));
    const article = element(
      'article',
      { class: `block ${role} ${mark}`, onClick },
      head,
      longText(text, 'text', role === 'call' ? 280 : 1_200),
    );
    article.style.setProperty('--depth', String(depth));
    if (role === 'call' && item !== undefined) article.append(...this.insideOf(item));
    return article;
  }

  private insideOf(call: Item): readonly HTMLElement[] {
    return [...this.story.callers].flatMap(([runId, caller]) => {
      if (caller !== call) return [];
      const button = element('button', {
        class: 'inside',
        text: 'Messages inside of this call',
        attributes: { 'data-run': runId, 'aria-expanded': 'false' },
      });
      button.addEventListener('click', (event) => {
        event.stopPropagation();
        if (!this.opened.delete(runId)) this.opened.add(runId);
        this.arrange();
      });
      return [button];
    });
  }
}

/** Scrolls the list, and not the page. Blocks get their heights in the next frame. */
function scrollTo(article: HTMLElement): void {
  requestAnimationFrame(() => {
    const box = article.closest('section');
    if (box === null) return;
    const { top, bottom } = article.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    if (top < outer.top || bottom > outer.bottom) box.scrollTop += top - outer.top - box.clientHeight / 4;
  });
}
