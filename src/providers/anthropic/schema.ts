import type { JsonSchema } from '../../internal/json.js';
import { defined, isObject, textOr, type WireObject } from '../shared/wire.js';

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'];
/** The largest number of optional properties in an output schema. The API refuses a schema with more as too complex. */
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;

/**
 * Keywords that change the meaning of a schema and not only restrict it. Except for `$ref`, `anyOf` and `oneOf`, the
 * API does not support them in output schemas.
 */
const SHAPING = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'patternProperties', 'prefixItems'];

/**
 * Returns an output schema in the form that the API accepts. Objects allow no additional properties, and unsupported
 * restrictions, such as `maxLength`, become part of the description.
 *
 * Returns undefined for a schema that the API cannot express: maps, recursion and tuples. The answer is always
 * validated against the original schema.
 */
export function outputSchema(schema: JsonSchema): WireObject | undefined {
  const limiter = new SchemaLimiter(schema);
  const limited = schema.type === 'object' ? limiter.limit(schema) : undefined;
  return limiter.isWithin ? limited : undefined;
}

class SchemaLimiter {
  private readonly open = new Set<string>();
  private optional = 0;
  private unions = 0;

  constructor(private readonly root: JsonSchema) {}

  get isWithin(): boolean {
    return this.optional <= MOST_OPTIONAL && this.unions <= MOST_UNIONS;
  }

  limit(schema: unknown): WireObject | undefined {
    if (!isObject(schema) || !this.isWithin) return undefined;
    if (schema.$ref !== undefined) return this.referred(schema);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives !== undefined) return this.union(schema, alternatives);
    if (SHAPING.some((keyword) => keyword in schema)) return undefined;
    if ('const' in schema || Array.isArray(schema.enum)) return this.literal(schema);
    const types = Array.isArray(schema.type) ? schema.type : [schema.type];
    if (types.length > 1) this.unions += 1;
    return types.includes('object') || types.includes('array') ? this.container(schema) : plain(schema);
  }

  /**
   * Replaces a reference by its schema, so that no definitions are needed. Returns undefined for a recursive reference.
   */
  private referred({ $ref, ...beside }: WireObject): WireObject | undefined {
    const reference = textOr($ref);
    const [, keyword = '', name = ''] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(reference) ?? [];
    const definitions = this.root[keyword];
    if (!isObject(definitions) || this.open.has(reference)) return undefined;
    this.open.add(reference);
    const target = definitions[name];
    const limited = isObject(target) ? this.limit({ ...target, ...beside }) : undefined;
    this.open.delete(reference);
    return limited;
  }

  private union({ anyOf, oneOf, ...rest }: WireObject, alternatives: unknown): WireObject | undefined {
    const known = ['description', 'title', 'default', 'type', '$schema', '$defs', 'definitions'];
    if (!Array.isArray(alternatives) || Object.keys(rest).some((keyword) => !known.includes(keyword))) return undefined;
    this.unions += 1;
    const limited = alternatives.map((each) => this.limit(each));
    return limited.includes(undefined) ? undefined : { ...named(rest), anyOf: limited };
  }

  private literal(schema: WireObject): WireObject | undefined {
    const values = Array.isArray(schema.enum) ? schema.enum : [schema.const];
    if (values.some((value) => typeof value === 'object' && value !== null)) return undefined;
    const literal = 'const' in schema ? { const: schema.const } : { enum: values };
    return { ...named(schema), ...literal };
  }

  private container(schema: WireObject): WireObject | undefined {
    if (Array.isArray(schema.type)) return undefined;
    return schema.type === 'array' ? this.list(schema) : this.object(schema);
  }

  private list({ items, ...rest }: WireObject): WireObject | undefined {
    const limited = this.limit(items);
    return limited && { ...plain(rest), items: limited };
  }

  private object({ properties, required, additionalProperties, ...rest }: WireObject): WireObject | undefined {
    if (isObject(additionalProperties) || (!isObject(properties) && additionalProperties !== false)) return undefined;
    const fields = Object.entries(isObject(properties) ? properties : {});
    const limited = fields.map(([name, field]) => [name, this.limit(field)] as const);
    if (limited.some(([, field]) => field === undefined)) return undefined;
    this.optional += fields.length - (Array.isArray(required) ? required.length : 0);
    return defined({ ...plain(rest), properties: Object.fromEntries(limited), required, additionalProperties: false });
  }
}

/**
 * Returns the keywords of a schema without properties and items. Restrictions that the API does not support become part
 * of the description.
 */
function plain(schema: WireObject): WireObject | undefined {
  const { $schema, $defs, definitions, type, title, description, default: usual, format, minItems, ...others } = schema;
  if (type === undefined) return undefined;
  const isKnown = FORMATS.includes(textOr(format));
  const isFew = minItems === 0 || minItems === 1;
  const limits = defined({ ...others, format: isKnown ? undefined : format, minItems: isFew ? undefined : minItems });
  const words = Object.keys(limits).length > 0 ? `(${JSON.stringify(limits)})` : '';
  return defined({
    type,
    ...named({ title, default: usual }),
    description: [textOr(description), words].filter(Boolean).join(' ') || undefined,
    format: isKnown ? format : undefined,
    minItems: isFew ? minItems : undefined,
  });
}

function named({ title, description, default: usual }: WireObject): WireObject {
  return defined({ title, description, default: usual });
}
