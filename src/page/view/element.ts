import { safeText } from '../../internal/safe-text.js';

/**
 * The text, the attributes and the click handler of an element. Strings are shown as plain text, without characters
 * that hide or reorder text.
 */
export interface Parts {
  readonly class?: string | undefined;
  readonly text?: string | undefined;
  /** The accessible name of the element. */
  readonly label?: string | undefined;
  /** The tooltip. */
  readonly title?: string | undefined;
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  readonly onClick?: (() => void) | undefined;
}

/** Creates an HTML element. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  parts: Parts = {},
  ...children: readonly (Node | undefined)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (parts.class !== undefined) made.className = parts.class;
  if (parts.text !== undefined) made.textContent = safeText(parts.text);
  if (parts.label !== undefined) made.setAttribute('aria-label', safeText(parts.label));
  if (parts.title !== undefined) made.title = safeText(parts.title);
  for (const [name, value] of Object.entries(parts.attributes ?? {})) made.setAttribute(name, value);
  if (parts.onClick !== undefined) made.addEventListener('click', parts.onClick);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Creates an SVG element. */
export function drawn(tag: string, attributes: Readonly<Record<string, string | number>>, text?: string): SVGElement {
  const made = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = safeText(text);
  return made;
}

const STEP = 100_000;

/** Creates an element that shows a text. A long text is shortened, with a button that shows more. */
export function longText(text: string, className: string, first = 2_000): HTMLElement {
  const shown = element('pre', { class: className });
  const box = element('div', { class: 'long' }, shown);
  const show = (length: number) => {
    shown.textContent = safeText(text.slice(0, length));
    if (text.length <= length) return;
    const more = element('button', {
      class: 'more',
      text: `Show more of ${text.length.toLocaleString('en')} characters`,
      onClick() {
        more.remove();
        show(length + STEP);
      },
    });
    box.append(more);
  };
  show(first);
  return box;
}
