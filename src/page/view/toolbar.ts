import { safeText } from '../../internal/safe-text.js';
import { element } from './element.js';
import { FILTERS, type Filter } from './search.js';

/** Functions that the toolbar calls. */
export interface ToolbarActions {
  search(query: string, filter: Filter): void;
  zoom(factor: number): void;
}

/** The toolbar of the page: search, filters, zoom and theme. */
export class Toolbar {
  readonly root = element('div', { class: 'tools', label: 'Tools', attributes: { role: 'group' } });
  private readonly input = element('input', {
    label: 'Search',
    attributes: { type: 'search', placeholder: 'Search  /', spellcheck: 'false' },
  });
  private readonly count = element('output', { class: 'count' });
  private readonly warning = element('output', { class: 'warning' });
  private filter: Filter = 'all';

  constructor(private readonly actions: ToolbarActions) {
    this.input.addEventListener('input', () => this.searchAgain());
    this.input.addEventListener('keydown', ({ key }) => {
      if (key !== 'Escape') return;
      this.input.value = '';
      this.searchAgain();
      this.input.blur();
    });
    const zoom = (text: string, label: string, factor: number) =>
      element('button', { text, label, onClick: () => actions.zoom(factor) });
    this.root.append(
      this.input,
      this.count,
      this.filters(),
      element('div', { class: 'group' }, zoom('−', 'Zoom out', 1 / 1.5), zoom('+', 'Zoom in', 1.5)),
      themeButton(),
      this.warning,
    );
  }

  /** Adds a control at the start of the toolbar. */
  add(control: HTMLElement): void {
    this.root.prepend(control);
  }

  focus(): void {
    this.input.focus();
  }

  say(text: string): void {
    this.count.textContent = text;
  }

  /** Shows a warning, for example that the page cannot load new traces. An empty string removes the warning. */
  warn(text: string): void {
    this.warning.textContent = safeText(text);
  }

  searchAgain(): void {
    this.actions.search(this.input.value.trim().toLowerCase(), this.filter);
  }

  private filters(): HTMLElement {
    const group = element('div', { class: 'group', label: 'Show', attributes: { role: 'group' } });
    for (const [name, text] of Object.entries(FILTERS) as [Filter, string][]) {
      const pressed = String(name === this.filter);
      const button = element('button', { text, attributes: { 'aria-pressed': pressed } });
      button.addEventListener('click', () => {
        this.filter = name;
        for (const one of group.children) one.setAttribute('aria-pressed', String(one === button));
        this.searchAgain();
      });
      group.append(button);
    }
    return group;
  }
}

function themeButton(): HTMLElement {
  const { dataset } = document.documentElement;
  const isDark = () =>
    dataset.theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : dataset.theme === 'dark';
  const onClick = () => {
    dataset.theme = isDark() ? 'light' : 'dark';
  };
  return element('button', { class: 'theme', text: '◐', label: 'Change between light and dark', onClick });
}
