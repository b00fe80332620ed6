import { type Block, conversationOf } from '../story/conversation.js';
import type { Item, Story } from '../story/story.js';
import { element, longText } from './element.js';

/** The conversation beside the timeline. The messages of nested runs are folded. */
export class Conversation {
  readonly root = element('div', { class: 'blocks' });
  private callers: Story['callers'] = new Map();
  private blocks: readonly Block[] = [];
  private articles: readonly HTMLElement[] = [];
  private texts: string[] = [];
  private readonly opened = new Set<string>();
  private query = '';

  constructor(private readonly select: (item: Item) => void) {}

  /** Shows a trace, or a longer version of the same trace. Reuses the elements of blocks that have not changed. */
  show(story: Story): void {
    const { blocks, articles } = this;
    this.callers = story.callers;
    this.blocks = conversationOf(story);
    this.texts = [];
    this.articles = this.blocks.map((block, index) => {
      const shown = articles[index];
      if (shown !== undefined && isSame(block, blocks[index])) return shown;
      const article = this.articleOf(block, index);
      if (shown === undefined) this.root.append(article);
      else shown.replaceWith(article);
      return article;
    });
    this.arrange();
  }

  /** Hides the blocks that do not contain the query. An empty query shows all blocks that are not folded. */
  search(query: string): void {
    this.query = query;
    this.arrange();
  }

  /** Highlights the blocks that belong to an item of the timeline. */
  mark(item: Item): void {
    this.articles.forEach((article, index) => {
      article.classList.toggle('marked', this.blocks[index]?.item === item);
    });
  }

  /** Unfolds the runs that enclose an item of the timeline, and scrolls to its first block. */
  reveal(item: Item): void {
    let runId: string | undefined = item.runId;
    for (; runId !== undefined; runId = this.callers.get(runId)?.runId) this.opened.add(runId);
    this.arrange();
    const first = this.articles.find((article, index) => this.blocks[index]?.item === item && !article.hidden);
    if (first !== undefined) scrollTo(first);
  }

  private arrange(): void {
    const { query, opened } = this;
    this.blocks.forEach(({ runId }, index) => {
      const article = this.articles[index];
      if (article === undefined) return;
      const isShown = query === '' ? this.isUnfolded(runId) : this.textAt(index).includes(query);
      if (article.hidden === isShown) article.hidden = !isShown;
    });
    for (const button of this.root.querySelectorAll<HTMLElement>('.inside')) {
      button.setAttribute('aria-expanded', String(opened.has(button.dataset.run ?? '')));
    }
  }

  private isUnfolded(runId: string): boolean {
    const caller = this.callers.get(runId);
    return caller === undefined || (this.opened.has(runId) && this.isUnfolded(caller.runId));
  }

  private textAt(index: number): string {
    const { who = '', text = '', input = '' } = this.blocks[index] ?? {};
    this.texts[index] ??= `${who}\n${input.slice(0, 50_000)}\n${text.slice(0, 50_000)}`.toLowerCase();
    return this.texts[index] ?? '';
  }

  private articleOf({ role, who, text, input, mark, depth, inside = [] }: Block, index: number): HTMLElement {
    const head = element('header', {}, element('span', { class: 'who', text: who }));
    if (input !== undefined) head.append(element('code', { text: input.slice(0, 200) }));
    if (mark !== 'fine') head.append(element('span', { class: `badge ${mark}`, text: mark }));
    const onClick = () => {
      const item = this.blocks[index]?.item;
      if (item !== undefined) this.select(item);
    };
    const article = element(
      'article',
      { class: `block ${role} ${mark}`, onClick },
      head,
      longText(text, 'text', role === 'call' ? 280 : 1_200),
      ...inside.map((runId) => this.insideOf(runId)),
    );
    article.style.setProperty('--depth', String(depth));
    return article;
  }

  private insideOf(runId: string): HTMLElement {
    const button = element('button', {
      class: 'inside',
      text: 'Messages inside this call',
      attributes: { 'data-run': runId, 'aria-expanded': 'false' },
    });
    button.addEventListener('click', (event) => {
      event.stopPropagation();
      if (!this.opened.delete(runId)) this.opened.add(runId);
      this.arrange();
    });
    return button;
  }
}

/**
 * Returns true if two versions of a block look the same. In a longer trace, a tool call may have its result and nested
 * runs.
 */
function isSame(a: Block, b: Block | undefined): boolean {
  return a.text === b?.text && a.mark === b.mark && a.inside?.length === b.inside?.length;
}

/**
 * Scrolls the conversation to a block, without scrolling the page. Waits for the next frame, because blocks have no
 * height before.
 */
function scrollTo(article: HTMLElement): void {
  requestAnimationFrame(() => {
    const box = article.closest('section');
    if (box === null) return;
    const { top, bottom } = article.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    if (top < outer.top || bottom > outer.bottom) box.scrollTop += top - outer.top - box.clientHeight / 4;
  });
}
