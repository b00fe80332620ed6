import { defined, type WireObject } from '../wire.js';

const NAMES = ['id', '$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor'];
const ANCHOR = /^[A-Za-z_][-A-Za-z0-9._]*$/;
/** Draft 2020-12 allows no fragment in an `$id`. */
const ID = /^[^#]*#?$/;

/**
 * Returns the node with names that draft 2020-12 accepts. An invalid name is dropped, unless the schema refers to it: then
 * it becomes an `$anchor`, as for `$id: "#name"` of draft 7.
 */
export function withAnchors(node: WireObject, root: WireObject): WireObject {
  const invalid = NAMES.filter((key) => node[key] !== undefined && !isValid(key, node[key]));
  if (invalid.length === 0) return node;
  const anchor = invalid.map((key) => anchorIn(node[key])).find((name) => name !== undefined && isReferred(name, root));
  // In draft 4, `id` has this meaning. Otherwise it is not a keyword, and stays.
  const dropped = Object.fromEntries(invalid.filter((key) => key !== 'id' || anchor).map((key) => [key, undefined]));
  return defined({ ...node, ...dropped, ...(anchor !== undefined && { $anchor: anchor }) });
}

function isValid(key: string, name: unknown): boolean {
  if (key === 'id') return typeof name !== 'string' || !name.startsWith('#');
  return typeof name === 'string' && (key === '$id' ? ID : ANCHOR).test(name);
}

function anchorIn(name: unknown): string | undefined {
  const text = typeof name === 'string' ? name.replace(/^#/, '') : '';
  return ANCHOR.test(text) ? text : undefined;
}

function isReferred(anchor: string, root: WireObject): boolean {
  const text = JSON.stringify(root);
  return ['$ref', '$dynamicRef'].some((key) => text.includes(`"${key}":"#${anchor}"`));
}
