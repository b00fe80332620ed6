import fc from 'fast-check';

export type Fields = Readonly<Record<string, unknown>>;

/** Limits of a case, in characters. */
export interface SchemaCaseSize {
  readonly schema: number;
  readonly value: number;
}

/** A part of a schema, and a value that it applies to. */
export interface Fragment {
  readonly schema: Fields;
  readonly value: unknown;
}

/** Creates a fragment for each keyword. */
export type Fragments = Readonly<Record<string, (source: SchemaSource) => Fragment>>;

const DEEPEST = 3;
/** Expressions that backtrack, and cheap ones. */
const PATTERNS = [
  ...['^(a|a)*$', '(a+)+$', '^(a*)*b', '^a*a*a*a*$', '.*.*.*=', '(?=(a+))a*\\1$', '^([a-z]+)*[0-9]$'],
  ...['a', '^[^!]*$', '\\d+$', '^\\p{L}+$', 'a{1,50}b'],
];

/** Random choices for one case, and its limits. Half of the counts are as large as possible. */
export class SchemaSource {
  /** Schemas under `$defs` of the whole schema. */
  readonly defs: Record<string, unknown> = {};
  private depth = 0;
  private size: SchemaCaseSize;

  constructor(
    private readonly draw: fc.GeneratorValue,
    size: SchemaCaseSize,
    private readonly fragments: Fragments,
  ) {
    this.size = size;
  }

  int(min: number, max: number): number {
    return this.draw(fc.integer, { min, max: Math.max(min, max) });
  }

  oneOf<Value>(values: readonly Value[]): Value {
    return values[this.int(0, values.length - 1)] as Value;
  }

  list<Value>(min: number, max: number, create: (at: number) => Value): Value[] {
    return Array.from({ length: this.int(min, max) }, (_, at) => create(at));
  }

  /** Returns a count from 1 to the number of members that fit into the value, or into the schema. */
  count(of: keyof SchemaCaseSize, length = 8): number {
    const most = Math.max(1, Math.floor(this.size[of] / length));
    return this.oneOf([1, this.int(1, most), most, most, most, Math.ceil(Math.sqrt(most))]);
  }

  /** Returns a string that fits into the value, or into the schema. */
  text(of: keyof SchemaCaseSize = 'value'): string {
    const unit = this.oneOf(['a', 'a', 'b', '0', ' ', 'é', '😀', '"']);
    return `${unit.repeat(this.count(of, unit.length))}${this.oneOf(['', '!', '\n'])}`;
  }

  pattern(): string {
    return this.oneOf(PATTERNS);
  }

  /** Returns a plain value with many members or characters. */
  value(): unknown {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);
    return this.oneOf<() => unknown>([
      () => this.text(),
      () => this.oneOf([0, -1, 1.7e308, 5e-324, 3.3, null, true]),
      () => names(this.count('value')),
      () => names(this.count('value', 20)).map((text) => ({ text })),
      () => Object.fromEntries(names(this.count('value', 10)).map((name) => [name, 1])),
      () => nested(this.int(1, 300)),
    ])();
  }

  /** Returns a random subschema with a value. `copies` copies of both fit into the whole. */
  sub({ schema = 1, value = 1 }: Partial<SchemaCaseSize> = {}): Fragment {
    const outer = this.size;
    this.size = { schema: outer.schema / (2 * schema), value: outer.value / value };
    this.depth += 1;
    try {
      if (this.depth > DEEPEST || this.size.schema < 100) {
        return { schema: this.oneOf([{}, { type: 'string' }, { pattern: this.pattern() }]), value: this.value() };
      }
      return this.merged(this.list(1, 3, () => this.oneOf(Object.keys(this.fragments))));
    } finally {
      this.depth -= 1;
      this.size = outer;
    }
  }

  /** Returns the fragments of these keywords as one schema, and a value of one type that has parts of each value. */
  merged(keywords: readonly string[]): Fragment {
    const outer = this.size;
    this.size = { schema: outer.schema / keywords.length, value: outer.value / keywords.length };
    const made = keywords.map((keyword) => this.fragments[keyword]?.(this) as Fragment);
    this.size = outer;
    const value = made.map((fragment) => fragment.value).reduce(joined);
    const schemas = made.map(({ schema }) => schema);
    const names = schemas.flatMap((schema) => Object.keys(schema));
    // A keyword that several fragments have would be lost.
    return { schema: new Set(names).size < names.length ? { allOf: schemas } : Object.assign({}, ...schemas), value };
  }
}

/** Returns an object inside of objects, under the names that recursive schemas use. */
export function nested(levels: number): unknown {
  let value: unknown = 'end';
  for (let level = 0; level < levels; level++) value = { next: value };
  return value;
}

function joined(first: unknown, second: unknown): unknown {
  if (Array.isArray(first) && Array.isArray(second)) return first.concat(second);
  if (typeof first === 'string' && typeof second === 'string') return first + second;
  if (isRecord(first) && isRecord(second)) return { ...first, ...second };
  return first;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
