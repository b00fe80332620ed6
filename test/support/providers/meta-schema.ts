import { readdirSync, readFileSync } from 'node:fs';
import type { JsonSchema } from '../../../src/internal/json.js';
import { compileJsonSchema } from '../../../src/tools/json-schema-check.js';

const folder = new URL('../../fixtures/json-schema/', import.meta.url);

interface Vocabulary {
  readonly properties: JsonSchema;
  readonly $defs?: JsonSchema;
}

/** The meta-schema of draft 2020-12 in one document, because the validator ignores `$dynamicRef`. */
function wholeMetaSchema(): JsonSchema {
  const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const plain = texts.map((text) =>
    text
      .replaceAll(/"\$dynamicRef": "#meta"/g, '"$ref": "#"')
      .replaceAll(/"meta\/[a-z]+#\//g, '"#/')
      .replaceAll(/"format": "uri(?:-reference)?"/g, '"$comment": "A format is an annotation."'),
  );
  const vocabularies = plain.map((text): Vocabulary => JSON.parse(text));
  return {
    type: ['object', 'boolean'],
    properties: Object.assign({}, ...vocabularies.map(({ properties }) => properties)),
    $defs: Object.assign({}, ...vocabularies.map(({ $defs }) => $defs)),
  };
}

/** Checks a schema against the meta-schema of draft 2020-12. */
export const checkSchema = compileJsonSchema(wholeMetaSchema());

/** The keywords of draft 2020-12, and those of older drafts that its meta-schema contains. */
export const schemaKeywords: readonly string[] = Object.keys(wholeMetaSchema().properties as object);
