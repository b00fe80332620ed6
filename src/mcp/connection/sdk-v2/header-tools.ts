import { isObject } from '../../../internal/json.js';
import type { ConnectionOptions } from '../sdk.js';

/** The definition of a tool, as far as the SDK needs it to send the headers of a call. */
interface HeaderTool {
  readonly name: string;
  readonly inputSchema: { readonly type: 'object'; readonly [name: string]: unknown };
}

/** An annotation in the schema of a tool that asks for an argument in a header of the request. */
interface Annotation {
  readonly header: unknown;
  readonly type: unknown;
  readonly isProperty: boolean;
}

const ANNOTATION = 'x-mcp-header';
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Keywords of a schema whose value is data, so annotations inside it do not count. */
const DATA: readonly string[] = ['default', 'const', 'enum', 'examples'];

/**
 * The tools of one server that want arguments in headers. By the protocol, a tool with invalid annotations must not be
 * offered.
 */
export class HeaderTools {
  private readonly tools = new Map<unknown, HeaderTool>();

  constructor(private readonly options: Pick<ConnectionOptions, 'definition' | 'log'>) {}

  find(name: unknown): HeaderTool | undefined {
    return this.tools.get(name);
  }

  /**
   * Replaces the stored tools by the tools of a new list. Returns the list without the tools whose annotations are
   * invalid.
   */
  list(entries: readonly unknown[]): readonly unknown[] {
    this.tools.clear();
    // Only HTTP has headers.
    return this.options.definition.transport === 'stdio' ? entries : entries.filter((entry) => this.accepts(entry));
  }

  private accepts(entry: unknown): boolean {
    if (!isObject(entry) || typeof entry.name !== 'string' || !isObject(entry.inputSchema)) return true;
    const { name, inputSchema } = entry;
    const annotations = annotationsIn(inputSchema, false);
    if (annotations.length === 0) return true;
    const problem = problemOf(annotations);
    if (problem === undefined) this.tools.set(name, { name, inputSchema: { ...inputSchema, type: 'object' } });
    else
      this.options.log.write(
        'warn',
        `tool ${JSON.stringify(name.slice(0, 100))} is skipped: \`${ANNOTATION}\` ${problem}`,
      );
    return problem === undefined;
  }
}

/**
 * Returns all annotations in a schema. An annotation is valid only at a property, at any depth of nested properties.
 */
function annotationsIn(schema: unknown, isProperty: boolean): readonly Annotation[] {
  if (Array.isArray(schema)) return schema.flatMap((item) => annotationsIn(item, false));
  if (!isObject(schema)) return [];
  const { [ANNOTATION]: header, type, properties } = schema;
  const own = header === undefined || isObject(header) ? [] : [{ header, type, isProperty }];
  const others = Object.entries(schema).filter(([keyword]) => keyword !== 'properties' && !DATA.includes(keyword));
  return [
    ...own,
    ...Object.values(isObject(properties) ? properties : {}).flatMap((property) => annotationsIn(property, true)),
    ...others.flatMap(([, value]) => annotationsIn(value, false)),
  ];
}

function problemOf(annotations: readonly Annotation[]): string | undefined {
  const names = annotations.map(({ header }) => String(header).toLowerCase());
  if (annotations.some(({ isProperty }) => !isProperty)) return 'may stand only in properties';
  if (annotations.some(({ header }) => typeof header !== 'string' || !TOKEN.test(header)))
    return 'must be the name of an HTTP header';
  if (annotations.some(({ type }) => !TYPES.includes(type))) return 'needs the type string, integer or boolean';
  return new Set(names).size < names.length ? 'must be unique' : undefined;
}
