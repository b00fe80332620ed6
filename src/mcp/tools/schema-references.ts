type Fields = Readonly<Record<string, unknown>>;

const MAX_NODES = 100_000;

/** The names that the references of a schema can lead to. */
export class SchemaReferences {
  private readonly names = new Set<string>();
  private hasIds = false;

  constructor(private readonly root: Fields) {
    const open: unknown[] = [root];
    for (let count = 0; open.length > 0 && count < MAX_NODES; count++) {
      const node = open.pop();
      if (typeof node !== 'object' || node === null) continue;
      this.collect(node as Fields);
      open.push(...Object.values(node));
    }
  }

  /** The reference of a schema that leads nowhere, or undefined. One that leads out of the schema leads nowhere. */
  lostIn(node: Fields): string | undefined {
    const { $ref } = node;
    return typeof $ref !== 'string' || this.has($ref) ? undefined : $ref;
  }

  private collect(node: Fields): void {
    for (const name of [node.$anchor, node.$dynamicAnchor]) if (typeof name === 'string') this.names.add(`#${name}`);
    const id = node.$id ?? node.id;
    if (typeof id !== 'string') return;
    this.names.add(id);
    if (node !== this.root) this.hasIds = true;
  }

  private has(reference: string): boolean {
    if (reference === '#' || this.names.has(reference)) return true;
    if (reference.startsWith('#/') && this.hasPath(reference)) return true;
    // Below an id of its own a reference starts from there: whether it leads anywhere shows when it is followed.
    return this.hasIds && !URL.canParse(reference);
  }

  private hasPath(reference: string): boolean {
    let node: unknown = this.root;
    for (const step of reference.slice(2).split('/')) {
      const name = decode(step);
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return false;
      node = (node as Fields)[name];
    }
    return (typeof node === 'object' && node !== null) || typeof node === 'boolean';
  }
}

function decode(step: string): string {
  let plain = step;
  try {
    plain = decodeURIComponent(step);
  } catch {
    // Not encoded after all.
  }
  return plain.replaceAll('~1', '/').replaceAll('~0', '~');
}
